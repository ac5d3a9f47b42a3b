// The metadata of a sparse operand A in the words that mma.sp reads (layout/mma.h). It is small
// beside the fragments: all of a dot's is brought into registers at once.
#include <fmt/format.h>

#include "codegen/cuda/emit_dot.h"

namespace tilewright::cuda {

View use_metadata(Emitter& e, ir::OpId id) {
  return e.assignment.dots.at(id).unit.sparse ? e.use(id, 3) : View{};
}

void declare_metadata(MmaDot& dot, const View& view) {
  if (!dot.plan.unit.sparse) return;
  Emitter& e = dot.e;
  const int each = 32 / dtype_bits(view.type.dtype);
  const int words = layout::metadata_words(dot.plan.tiling, dot.counts.k, dot.counts.m);
  std::vector<std::vector<uint32_t>> tables(1 + static_cast<size_t>(each));
  for (int w = 0; w < words; ++w) {
    tables[0].push_back(static_cast<uint32_t>(w));
    for (int j = 0; j < each; ++j)
      tables[1 + static_cast<size_t>(j)].push_back(view.index(static_cast<uint32_t>(w * each + j)));
  }
  dot.metadata = e.fresh("metadata");
  e.out.line(fmt::format("u32 {}[{}];", dot.metadata, words));
  e.each(tables, [&](const std::vector<std::string>& i) {
    std::string list;
    for (size_t j = 1; j < i.size(); ++j) list += (j > 1 ? ", " : "") + view.element(i[j]);
    return fmt::format("{{ const {} t[{}] = {{{}}}; tw_to_words<{}>({} + {}, t); }}",
                       type_name(view.type), each, list, each, dot.metadata, i[0]);
  });
}

}  // namespace tilewright::cuda
