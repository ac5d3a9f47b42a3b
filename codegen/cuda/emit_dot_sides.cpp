// Tiles beside the operands of a dot, in the words that its instructions read (layout/mma.h): the
// metadata of a sparse A, the scales of a block-scaled A and B. They are small beside the
// fragments: all of a dot's are brought into registers at once. Whose lanes and which bytes of a
// word an instruction reads is a part of the instruction.
#include <fmt/format.h>

#include "codegen/cuda/emit_dot.h"

namespace tilewright::cuda {
namespace {

// Words for one tile along M or N.
int words_of_tile(const MmaDot& dot, size_t side) {
  if (dot.plan.unit.sparse) return layout::metadata_words(dot.plan.tiling, dot.counts.k, 1);
  return layout::scale_words(side == 0, dot.counts.k * dot.plan.unit.scales);
}

}  // namespace

std::vector<View> use_sides(Emitter& e, ir::OpId id) {
  std::vector<View> views;
  for (size_t i = 3; i < e.module.op(id).operands.size(); ++i)
    views.push_back(e.use(id, static_cast<int>(i)));
  return views;
}

void declare_sides(MmaDot& dot, const std::vector<View>& views) {
  Emitter& e = dot.e;
  dot.sides.clear();
  for (size_t side = 0; side < views.size(); ++side) {
    const View& view = views[side];
    const int each = 32 / dtype_bits(view.type.dtype);
    const int words = words_of_tile(dot, side) * (side == 0 ? dot.counts.m : dot.counts.n);
    std::vector<std::vector<uint32_t>> tables(1 + static_cast<size_t>(each));
    for (int w = 0; w < words; ++w) {
      tables[0].push_back(static_cast<uint32_t>(w));
      for (int j = 0; j < each; ++j)
        tables[1 + static_cast<size_t>(j)].push_back(
            view.index(static_cast<uint32_t>(w * each + j)));
    }
    std::string name = e.fresh(dot.plan.unit.sparse ? "metadata" : side == 0 ? "sa" : "sb");
    e.out.line(fmt::format("u32 {}[{}];", name, words));
    e.each(tables, [&](const std::vector<std::string>& i) {
      std::string list;
      for (size_t j = 1; j < i.size(); ++j) list += (j > 1 ? ", " : "") + view.element(i[j]);
      return fmt::format("{{ const {} t[{}] = {{{}}}; tw_to_words<{}>({} + {}, t); }}",
                         type_name(view.type), each, list, each, name, i[0]);
    });
    dot.sides.push_back(name);
  }
}

SideUse use_of_sides(const MmaDot& dot, int k_tile, const std::string& m, const std::string& n) {
  const Unit& unit = dot.plan.unit;
  auto argument = [&](size_t side, int word, const std::string& tile) {
    const int stride = words_of_tile(dot, side);
    std::string at = tile.empty()  ? ""
                     : stride == 1 ? tile
                                   : fmt::format("{} * {}", paren(tile), stride);
    if (word > 0 || at.empty()) at += fmt::format("{}{}", at.empty() ? "" : " + ", word);
    return fmt::format(", {}[{}]", dot.sides[side], at);
  };
  if (unit.sparse) {
    auto place = layout::metadata_place(dot.plan.tiling, dot.counts.k, 0, k_tile);
    return {fmt::format("<{}>", place.selector), argument(0, place.word, m)};
  }
  auto a = layout::scale_place(true, unit.scales, k_tile),
       b = layout::scale_place(false, unit.scales, k_tile);
  return {fmt::format("<{}, {}, {}, {}>", a.byte, a.thread, b.byte, b.thread),
          argument(0, a.word, m) + argument(1, b.word, n)};
}

}  // namespace tilewright::cuda
