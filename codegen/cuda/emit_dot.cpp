// The main loop of a matrix product by the tensor cores' mma instructions, as planned by DotPlan.
//
//   u32 fa[32], fb[32];                                  two sets of fragments each
//   const u32 fa_at = slot_offset + at, fa_at2 = fa_at ^ 32;
//   tw_ldmatrix<4, 0>(fa, fa_at); tw_ldmatrix<4, 1024>(fa + 4, fa_at); …      set 0: step 0
//   tw_ldmatrix<4, 0>(fa + 16, fa_at2); …                                     set 1: step 1
//   TW_EACH(m, 4) TW_EACH(n, 8) tw_mma_m16n8k16_f16(acc + …, fa + m * 4, fb + n * 2);   step 0
//   …
//
// Products go through the warp's tile in snake order, so that neighbours share a fragment.
#include <fmt/format.h>

#include <algorithm>

#include "codegen/cuda/emit_dot.h"
#include "codegen/cuda/emit_ops.h"
#include "codegen/cuda/emit_rotation.h"

namespace tilewright::cuda {
namespace {

using ir::OpNode;

// Words of fragments and accumulators that one thread may hold; the rest of its 255 registers are
// addresses, masks and what the loop carries.
constexpr int kRegisterBudget = 208;

// How many tiles of the operand to load at once, never parts of one access.
int least_chunk(const DotOperand& f) {
  int chunk = 1;
  if (!f.in_shared) return chunk;
  for (int k = 0; k < f.load.accesses(); ++k) {
    int first = f.load.registers[static_cast<size_t>(k * f.load.vector)];
    for (int j = 1; j < f.load.vector; ++j) {
      int r = f.load.registers[static_cast<size_t>(k * f.load.vector + j)];
      while (f.tile(first) / chunk != f.tile(r) / chunk) chunk *= 2;
    }
  }
  return chunk;
}

int accumulator_words(const MmaDot& dot) {
  const ir::Type& type = dot.e.module.type(dot.op.results[0]);
  return dot.plan.accumulator.registers() * type.element_bytes() / 4;
}

// All of A's tiles at once, and as many of B's as the registers allow beside a second set of both.
void choose_chunks(MmaDot& dot) {
  int parts = dot.plan.unit.products > 1 ? 2 : 1;  // value and rest
  dot.a.chunk = dot.a.tiles;
  dot.b.chunk = dot.b.tiles;
  int steps = dot.groups() * dot.batch_groups(), least = least_chunk(dot.b);
  auto words = [&] {
    dot.a.sets = steps > 1 ? 2 : 1;
    dot.b.sets = steps * dot.b.chunks() > 1 ? 2 : 1;
    return parts * (dot.a.sets * dot.words(dot.a) + dot.b.sets * dot.words(dot.b));
  };
  int fixed = accumulator_words(dot);
  while (fixed + words() > kRegisterBudget && dot.b.chunk > std::max(least, 2)) dot.b.chunk /= 2;
  if (fixed + words() > kRegisterBudget) dot.a.sets = 1;
}

// " + 128 + (m * 8 + n) * 4" with the parts that are there.
std::string offset_text(int constant, const std::string& variable, int scale) {
  std::string text = constant == 0 ? "" : fmt::format(" + {}", constant);
  if (variable.empty()) return text;
  if (scale == 1) return text + " + " + variable;
  return text + fmt::format(" + {} * {}", paren(variable), scale);
}

// The fragment of tile `tile` (text, of `tiles`) in step s and batch b of the set.
std::string fragment_index(const MmaDot& dot, const std::string& tile, int tiles, int words) {
  std::string text = tiles > 1 ? tile : "";
  if (dot.batches > 1) text = text.empty() ? "b" : fmt::format("b * {} + {}", tiles, text);
  if (dot.group > 1) text = text.empty() ? "s" : fmt::format("{} * {} + s", paren(text), dot.group);
  return offset_text(0, text, words);
}

// Sums of `promote` k tiles on their own, each then added to the accumulator.
void emit_promoted(MmaDot& dot, const std::string& loops, const std::string& place,
                   const std::string& call) {
  Emitter& e = dot.e;
  int fragment = layout::accumulator_fragment(dot.plan.tiling), length = dot.plan.unit.promote;
  int parts = dot.group / length;
  e.out.open(loops + (parts > 1 ? fmt::format("TW_EACH(q, {}) ", parts) : ""));
  e.out.line(fmt::format("f32 part[{}] = {{}};", fragment));
  if (parts > 1)
    e.out.line(fmt::format("TW_EACH(t, {0}) {{ int s = q * {0} + t; {1} }}", length, call));
  else
    e.out.line(dot.group > 1 ? fmt::format("TW_EACH(s, {}) {}", length, call) : call);
  e.out.line(fmt::format("TW_EACH(j, {}) ({}{})[j] += part[j];", fragment, dot.acc, place));
  e.out.close();
}

// With metadata or scales: whose count at a k tile is a part of the instruction, so each has its
// own loops.
void emit_selecting_products(MmaDot& dot, const FragmentSet& b_set, std::string loops,
                             const std::string& place, const std::string& n, int set_a, int set_b) {
  const int tiles_m = dot.counts.m, tiles_n = dot.counts.n, chunk = dot.b.chunk;
  if (tiles_m > 1) loops += fmt::format("TW_EACH(m, {}) ", tiles_m);
  if (chunk > 1) loops += fmt::format("TW_EACH(n, {}) ", chunk);
  std::string tile_n = n;
  if (const int first = b_set.chunk * chunk; tiles_n > 1 && (first > 0 || n.empty()))
    tile_n = n.empty() ? std::to_string(first) : fmt::format("{} + {}", n, first);
  for (int s = 0; s < dot.group; ++s) {
    SideUse sides =
        use_of_sides(dot, b_set.k_group * dot.group + s, tiles_m > 1 ? "m" : "", tile_n);
    const std::string step = dot.group > 1 ? fmt::format("const int s = {}; ", s) : "";
    dot.e.out.line(fmt::format(
        "{}{{ {}{}{}({}, {}{}, {}{}{}); }}", loops, step, dot.plan.unit.function, sides.selectors,
        dot.acc + place, fragment_words(dot, dot.a, set_a),
        fragment_index(dot, "m", tiles_m, dot.a.words()), fragment_words(dot, dot.b, set_b),
        fragment_index(dot, n, chunk, dot.b.words()), sides.arguments));
  }
}

// The products of one unit.
void emit_products(MmaDot& dot, const FragmentSet& b_set, int set_a, int set_b) {
  Emitter& e = dot.e;
  int fragment = layout::accumulator_fragment(dot.plan.tiling);
  int tiles_n = dot.counts.n, tiles_m = dot.counts.m, chunk = dot.b.chunk;
  std::string n = chunk == 1     ? ""
                  : tiles_m == 1 ? "n"
                                 : fmt::format("(m & 1 ? {} - n : n)", chunk - 1);
  std::string place = tiles_m > 1 ? "m" : "";
  if (dot.batches > 1) place = tiles_m > 1 ? fmt::format("b * {} + m", tiles_m) : "b";
  if (!place.empty() && tiles_n > 1) place = fmt::format("{} * {}", paren(place), tiles_n);
  if (!n.empty()) place += (place.empty() ? "" : " + ") + n;
  int first = (b_set.batch_group * dot.batches * tiles_m * tiles_n + b_set.chunk * chunk);
  place = offset_text(first * fragment, place, fragment);
  std::string loops;
  if (dot.batches > 1) loops += fmt::format("TW_EACH(b, {}) ", dot.batches);
  const Unit& unit = dot.plan.unit;
  if (!dot.sides.empty()) return emit_selecting_products(dot, b_set, loops, place, n, set_a, set_b);
  if (dot.group > 1 && unit.promote == 0) loops += fmt::format("TW_EACH(s, {}) ", dot.group);
  if (tiles_m > 1) loops += fmt::format("TW_EACH(m, {}) ", tiles_m);
  if (chunk > 1) loops += fmt::format("TW_EACH(n, {}) ", chunk);
  auto call_to = [&](const std::string& sum, std::string_view a_part, std::string_view b_part) {
    return fmt::format(
        "{}({}, {}{}, {}{});", unit.function, sum, fragment_words(dot, dot.a, set_a, a_part),
        fragment_index(dot, "m", tiles_m, dot.a.words()), fragment_words(dot, dot.b, set_b, b_part),
        fragment_index(dot, n, chunk, dot.b.words()));
  };
  if (unit.promote > 0) return emit_promoted(dot, loops, place, call_to("part", "", ""));
  auto call = [&](std::string_view a_part, std::string_view b_part) {
    return call_to(dot.acc + place, a_part, b_part);
  };
  if (unit.products == 2) e.out.line(loops + call("_rest", "_rest"));
  if (unit.products == 3) {
    e.out.line(loops + call("_rest", ""));
    e.out.line(loops + call("", "_rest"));
  }
  e.out.line(loops + call("", ""));
}

}  // namespace

std::vector<DotUnit> dot_units(const MmaDot& dot) {
  std::vector<DotUnit> units;
  for (int z = 0; z < dot.batch_groups(); ++z)
    for (int k = 0; k < dot.groups(); ++k)
      for (int c = 0; c < dot.b.chunks(); ++c) {
        int step = z * dot.groups() + k, unit = static_cast<int>(units.size());
        units.push_back({{z, k, 0}, {z, k, c}, step % dot.a.sets, unit % dot.b.sets, c == 0});
      }
  return units;
}

void emit_units(MmaDot& dot, bool first_is_loaded, const std::function<void()>& before_last) {
  std::vector<DotUnit> units = dot_units(dot);
  auto load_a = [&](const DotUnit& u) {
    if (u.new_a) load_fragments(dot, dot.a, u.a, u.set_a);
  };
  if (!first_is_loaded) {
    load_a(units[0]);
    load_fragments(dot, dot.b, units[0].b, units[0].set_b);
  }
  for (size_t i = 0; i < units.size(); ++i) {
    const DotUnit& u = units[i];
    const DotUnit* next = i + 1 < units.size() ? &units[i + 1] : nullptr;
    if (next && dot.a.sets > 1) load_a(*next);
    if (next && dot.b.sets > 1) load_fragments(dot, dot.b, next->b, next->set_b);
    if (!next && before_last) before_last();
    if (u.new_a) finish_fragments(dot, dot.a, u.a, u.set_a);
    finish_fragments(dot, dot.b, u.b, u.set_b);
    emit_products(dot, u.b, u.set_a, u.set_b);
    if (next && dot.a.sets == 1) load_a(*next);
    if (next && dot.b.sets == 1) load_fragments(dot, dot.b, next->b, next->set_b);
  }
}

MmaDot begin_dot(Emitter& e, ir::OpId id) {
  const OpNode& op = e.module.op(id);
  const DotPlan& plan = e.assignment.dots.at(id);
  MmaDot dot{.e = e, .id = id, .op = op, .plan = plan};
  dot.counts = layout::mma_counts(e.module.type(op.operands[0]).shape,
                                  e.module.type(op.operands[1]).shape, plan.tiling);
  plan_operands(dot);
  choose_chunks(dot);
  return dot;
}

namespace {

void emit_mma(Emitter& e, ir::OpId id) {
  View start = e.use(id, 2);  // may itself go through shared memory, so before the staging
  std::vector<View> sides = use_sides(e, id);
  MmaDot dot = begin_dot(e, id);
  View sum = declare_sum(dot, start);
  e.out.open("");
  declare_sides(dot, sides);
  declare_fragments(dot, dot.a, "fa");
  declare_fragments(dot, dot.b, "fb");
  declare_addresses(dot, dot.a);
  declare_addresses(dot, dot.b);
  std::function<void()> before_last;
  if (e.rotation && e.rotation->last == id) before_last = [&] { turn_over(e, *e.rotation); };
  emit_units(dot, false, before_last);
  e.out.close();
  define_sum(dot, std::move(sum));
}

}  // namespace

View declare_sum(MmaDot& dot, const View& start) {
  Emitter& e = dot.e;
  View sum = e.declare(e.module.type(dot.op.results[0]), dot.plan.accumulator,
                       e.name_for(dot.op.results[0]));
  dot.acc = sum.name;
  e.out.line(fmt::format("TW_EACH(i, {}) {}[i] = {};", sum.registers(), sum.name, start.at("i")));
  return sum;
}

void define_sum(MmaDot& dot, View sum) {
  dot.e.define(dot.op.results[0], std::move(sum));
}

void emit_Dot(Emitter& e, ir::OpId id) {
  const DotPlan& plan = e.assignment.dots.at(id);
  if (plan.kind == DotPlan::Kind::kFma) return emit_fma_dot(e, id, plan);
  if (e.rotation && e.rotation->dot == id) return emit_rotated_dot(e, *e.rotation);
  emit_mma(e, id);
}

}  // namespace tilewright::cuda
