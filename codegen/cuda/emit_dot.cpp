// Matrix products by the tensor cores' mma instructions, as planned by DotPlan.
//
// An operand that is not already in the fragment layout is staged in shared memory (swizzled, so
// that ldmatrix reads without bank conflicts), and its fragments are loaded group by group along K,
// so that only one group is held in registers:
//
//   tw_shared_store<8>(at + …, a + …);  …  tw_barrier();
//   TW_EACH(k, 2) {
//     u32 fa[16], fb[16];
//     TW_EACH(i, 4) tw_ldmatrix<4>(fa + i * 4, (at1 ^ k * 32) + i * 2048);
//     …
//     TW_EACH(m, 4) TW_EACH(n, 8) tw_mma_m16n8k16_bf16(acc + (m * 8 + n) * 4, fa + m * 4, fb + n *
//     2);
//   }
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "codegen/cuda/emit_convert.h"
#include "codegen/cuda/emit_dot.h"
#include "codegen/cuda/emit_ops.h"
#include "codegen/cuda/emitter.h"
#include "dsl/base/check.h"

namespace tilewright::cuda {
namespace {

using ir::OpNode;
using layout::Conversion;
using layout::SharedAccess;

// One operand of the mma: its values, and how fragments get into registers.
struct Fragments {
  View view;        // in the fragment layout, or (staged) as it was
  Conversion plan;  // kShared when staged
  bool staged = false;
  int64_t start = 0;  // of the staging buffer
  Dtype dtype{};
  int values = 1;  // of one fragment in a thread
  int packed = 1;  // values in one word
  int tiles = 1, k_tiles = 1, batch = 1;
  int chunk = 1;     // tiles that are loaded together
  std::string name;  // array of words

  int words() const { return values / packed; }
  int chunks() const { return tiles / chunk; }
  // Register number -> k tile, batch; and the value's place among those of its group of `group` k
  // tiles.
  int k_tile(int r) const { return r / values % k_tiles; }
  int tile(int r) const { return r / (values * k_tiles) % tiles; }
  int batch_of(int r) const { return r / (values * k_tiles * tiles); }
  int local(int r, int group, int batches) const {
    int place = batch_of(r) % batches * chunk + tile(r) % chunk;
    return (place * group + k_tile(r) % group) * values + r % values;
  }
  int register_of(int z, int at_tile, int k, int value) const {
    return ((z * tiles + at_tile) * k_tiles + k) * values + value;
  }
};

struct MmaDot {
  Emitter& e;
  ir::OpId id;
  const OpNode& op;
  const DotPlan& plan;
  layout::MmaCounts counts;
  Fragments a, b;
  int group = 1, batches = 1;  // k tiles and batches that are loaded together
  std::string acc;

  int groups() const { return counts.k / group; }
  int batch_groups() const { return counts.batch / batches; }
  // Words that a group of fragments takes.
  int words(const Fragments& f) const { return f.chunk * group * batches * f.words(); }
};

std::string word_type(const Fragments& f) {
  return f.dtype == Dtype::kF64 ? "f64" : "u32";
}

// Casts to what the unit multiplies; TF32 operands are rounded here, once an element.
View prepared(Emitter& e, const View& view, const DotPlan& plan) {
  Dtype dtype = view.type.dtype;
  bool other_fp8 = is_fp8(dtype) && is_fp8(plan.operand_dtype);
  bool tf32 = plan.operand_dtype == Dtype::kF32 && plan.products == 1;
  if ((dtype == plan.operand_dtype || other_fp8) && !tf32) return view;
  ir::Type type = view.type.with_dtype(plan.operand_dtype);
  return e.make_each(type, view.layout, e.fresh("operand"), view.uniform,
                     [&](const std::string& i) {
                       std::string text = view.at(i);
                       if (dtype != plan.operand_dtype)
                         text = fmt::format("tw_cast<{}>({})", type_name(type), text);
                       return tf32 ? fmt::format("tw_bitcast<f32>(tw_tf32({}))", text) : text;
                     });
}

Fragments plan_fragments(MmaDot& dot, int operand) {
  Emitter& e = dot.e;
  Fragments f;
  f.view = prepared(e, e.view(dot.op.operands[static_cast<size_t>(operand)]), dot.plan);
  f.dtype = f.view.type.dtype;
  bool is_a = operand == 0;
  f.values = is_a ? layout::a_fragment(dot.plan.tiling) : layout::b_fragment(dot.plan.tiling);
  f.packed = std::max(1, 4 / f.view.type.element_bytes());
  f.tiles = is_a ? dot.counts.m : dot.counts.n;
  f.k_tiles = dot.counts.k;
  f.batch = dot.counts.batch;
  const auto& wanted = is_a ? dot.plan.operand_a : dot.plan.operand_b;
  if (f.view.uniform) {
    f.view.layout = wanted;
    return f;
  }
  f.plan = layout::plan_conversion(f.view.layout, wanted, f.view.type.element_bytes(),
                                   {.ldmatrix = e.target.has_ldmatrix});
  f.staged = f.plan.kind == Conversion::Kind::kShared;
  if (!f.staged) f.view = e.convert(f.view, wanted, "operand");
  return f;
}

// The fewest k tiles and batches (powers of two) such that no load access spans two groups.
void find_groups(MmaDot& dot, const Fragments& f) {
  if (!f.staged) return;
  const SharedAccess& load = f.plan.shared.load;
  for (int k = 0; k < load.accesses(); ++k) {
    int first = load.registers[static_cast<size_t>(k * load.vector)];
    for (int j = 1; j < load.vector; ++j) {
      int r = load.registers[static_cast<size_t>(k * load.vector + j)];
      while (f.k_tile(first) / dot.group != f.k_tile(r) / dot.group) dot.group *= 2;
      while (f.batch_of(first) / dot.batches != f.batch_of(r) / dot.batches) dot.batches *= 2;
    }
  }
}

// How many tiles of the operand to load at once: all of A's, and of B's so few that their fragments
// take few registers, but never parts of one access.
void find_chunk(MmaDot& dot, Fragments& f, int least_words) {
  f.chunk = 1;
  if (f.staged) {
    const SharedAccess& load = f.plan.shared.load;
    for (int k = 0; k < load.accesses(); ++k) {
      int first = load.registers[static_cast<size_t>(k * load.vector)];
      for (int j = 1; j < load.vector; ++j) {
        int r = load.registers[static_cast<size_t>(k * load.vector + j)];
        while (f.tile(first) / f.chunk != f.tile(r) / f.chunk) f.chunk *= 2;
      }
    }
  }
  while (f.chunk < f.tiles && dot.words(f) < least_words) f.chunk *= 2;
}

void stage(MmaDot& dot) {
  Emitter& e = dot.e;
  if (!dot.a.staged && !dot.b.staged) return;
  int64_t bytes = 0;
  for (Fragments* f : {&dot.a, &dot.b}) {
    if (!f->staged) continue;
    f->start = bytes;
    bytes += (f->plan.shared.bytes + 127) / 128 * 128;
  }
  e.before_shared_write();
  e.reserve_shared(bytes, dot.op.span, "staging the operands of a dot");
  for (Fragments* f : {&dot.a, &dot.b}) {
    if (!f->staged) continue;
    TW_CHECK(f->plan.shared.repeats == 1, "operands are staged whole");
    const SharedAccess& store = f->plan.shared.store;
    emit_shared_stores(e, store, f->start, f->view, 0, store.accesses());
  }
  e.barrier();
  e.after_shared_read();
}

// A table over (item i, chunk c, group k, batch z), the first varying fastest, as text of those
// variables.
std::string indexed(const MmaDot& dot, const Fragments& f, const std::vector<uint32_t>& table) {
  auto columns = affine_columns(table);
  TW_CHECK(columns.has_value(), "fragments of a dot are not an affine map of their position");
  auto bits = [](int count) { return std::countr_zero(static_cast<unsigned>(count)); };
  const std::pair<const char*, int> outer[] = {
      {"z", bits(dot.batch_groups())}, {"k", bits(dot.groups())}, {"c", bits(f.chunks())}};
  std::vector<LinearTerm> terms;
  for (auto [variable, count] : outer) {
    terms.push_back({variable, {columns->end() - count, columns->end()}});
    columns->resize(columns->size() - static_cast<size_t>(count));
  }
  terms.push_back({"i", *columns});
  std::reverse(terms.begin(), terms.end());
  return linear_expression(terms, table[0]);
}

std::string each_item(int count, const std::string& text) {
  return count > 1 ? fmt::format("TW_EACH(i, {}) {}", count, text) : text;
}

// The load accesses of a staged operand, sorted by batch, group and local place.
std::vector<int> sorted_accesses(const MmaDot& dot, const Fragments& f) {
  const SharedAccess& load = f.plan.shared.load;
  std::vector<int> order;
  for (int k = 0; k < load.accesses(); ++k) order.push_back(k);
  auto key = [&](int k) {
    int r = load.registers[static_cast<size_t>(k * load.vector)];
    int outer = f.batch_of(r) / dot.batches * dot.groups() + f.k_tile(r) / dot.group;
    outer = outer * f.chunks() + f.tile(r) / f.chunk;
    return outer * (1 << 20) + f.local(r, dot.group, dot.batches);
  };
  std::sort(order.begin(), order.end(), [&](int x, int y) { return key(x) < key(y); });
  return order;
}

void load_staged(MmaDot& dot, const Fragments& f) {
  Emitter& e = dot.e;
  const SharedAccess& load = f.plan.shared.load;
  std::vector<int> order = sorted_accesses(dot, f);
  SharedPlace place(e, load, f.start);
  std::vector<uint32_t> meeting, apart;
  std::vector<std::vector<uint32_t>> local(static_cast<size_t>(load.vector));
  bool consecutive = true;
  for (int k : order) {
    uint32_t offset = load.offsets[static_cast<size_t>(k)];
    meeting.push_back(place.meeting(offset));
    apart.push_back(place.apart(offset));
    for (int j = 0; j < load.vector; ++j) {
      int r = load.registers[static_cast<size_t>(k * load.vector + j)];
      local[static_cast<size_t>(j)].push_back(
          static_cast<uint32_t>(f.local(r, dot.group, dot.batches)));
      consecutive = consecutive && local[static_cast<size_t>(j)].back() ==
                                       local[0].back() + static_cast<uint32_t>(j);
    }
  }
  int items = load.accesses() / (dot.groups() * dot.batch_groups() * f.chunks());
  std::string address = place.address(indexed(dot, f, meeting), indexed(dot, f, apart));
  int total = dot.words(f);
  // Register j of an access, as a place in the array of words.
  auto word = [&](int j) {
    std::vector<uint32_t> table = local[static_cast<size_t>(j)];
    for (uint32_t& entry : table) entry /= static_cast<uint32_t>(f.packed);
    std::string index = indexed(dot, f, table);
    return index;
  };
  auto array = [](const std::string& name, const std::string& index) {
    return index == "0" ? name : name + " + " + index;
  };
  e.out.line(fmt::format("{} {}[{}];", word_type(f), f.name, total));
  bool matrix = load.kind != SharedAccess::Kind::kVector;
  std::string function = !matrix                                      ? "tw_shared_load"
                         : load.kind == SharedAccess::Kind::kLdmatrix ? "tw_ldmatrix"
                                                                      : "tw_ldmatrix_trans";
  if (load.vector % f.packed == 0 && consecutive) {
    int words = load.vector / f.packed;
    e.out.line(each_item(
        items, fmt::format("{}<{}>({}, {});", function, words, array(f.name, word(0)), address)));
    return;
  }
  if (matrix) {
    std::string text = fmt::format("{{ u32 w[{}]; {}<{}>(w, {});", load.vector / 2, function,
                                   load.vector / 2, address);
    for (int j = 0; j < load.vector; j += 2)
      text += fmt::format(" {}[{}] = w[{}];", f.name, word(j), j / 2);
    e.out.line(each_item(items, text + " }"));
    return;
  }
  // Values smaller than a word, or not in order: by value, packed afterwards.
  std::string values = e.fresh(f.name + "_values"), type = type_name(f.view.type);
  e.out.line(fmt::format("{} {}[{}];", type, values, total * f.packed));
  std::string text = fmt::format("{{ {} t[{}]; tw_shared_load<{}>(t, {});", type, load.vector,
                                 load.vector, address);
  for (int j = 0; j < load.vector; ++j)
    text +=
        fmt::format(" {}[{}] = t[{}];", values, indexed(dot, f, local[static_cast<size_t>(j)]), j);
  e.out.line(each_item(items, text + " }"));
  std::string packed = f.packed == 1 ? "i" : fmt::format("i * {}", f.packed);
  if (f.dtype == Dtype::kF64)
    e.out.line(each_item(total, fmt::format("{}[i] = {}[i];", f.name, values)));
  else
    e.out.line(fmt::format("TW_EACH(i, {}) tw_to_words<{}>({} + i, {} + {});", total, f.packed,
                           f.name, values, packed));
}

// The words of fragments that are in registers.
void pack_local(MmaDot& dot, const Fragments& f) {
  Emitter& e = dot.e;
  int total = dot.words(f);
  std::vector<std::vector<uint32_t>> tables(static_cast<size_t>(f.packed));
  for (int z = 0; z < dot.batch_groups(); ++z)
    for (int q = 0; q < dot.groups(); ++q)
      for (int c = 0; c < f.chunks(); ++c)
        for (int w = 0; w < total; ++w)
          for (int j = 0; j < f.packed; ++j) {
            int value = w % f.words() * f.packed + j, kk = w / f.words() % dot.group;
            int place = w / (f.words() * dot.group), batch = z * dot.batches + place / f.chunk;
            int r = f.register_of(batch, c * f.chunk + place % f.chunk, q * dot.group + kk, value);
            tables[static_cast<size_t>(j)].push_back(f.view.index(static_cast<uint32_t>(r)));
          }
  e.out.line(fmt::format("{} {}[{}];", word_type(f), f.name, total));
  std::string list;
  for (size_t j = 0; j < tables.size(); ++j)
    list +=
        (j > 0 ? ", " : "") + f.view.element(f.view.is_array ? indexed(dot, f, tables[j]) : "0");
  if (f.dtype == Dtype::kF64)
    e.out.line(each_item(total, fmt::format("{}[i] = {};", f.name, list)));
  else
    e.out.line(
        fmt::format("TW_EACH(i, {}) {{ const {} t[{}] = {{{}}}; tw_to_words<{}>({} + i, t); }}",
                    total, type_name(f.view.type), f.packed, list, f.packed, f.name));
}

std::string mma_function(const MmaDot& dot) {
  const layout::MmaShape& shape = dot.plan.tiling.instruction;
  Dtype a = dot.a.dtype, b = dot.b.dtype;
  std::string name = fmt::format("tw_mma_m{}n{}k{}_{}", shape.m, shape.n, shape.k,
                                 a == Dtype::kF32 ? "tf32" : dtype_name(a));
  if (a != b) name += "_" + std::string(dtype_name(b));
  return name;
}

// Splits TF32x3 operands: the rounded value and the rounded rest.
void split(MmaDot& dot, const Fragments& f) {
  int total = dot.words(f);
  dot.e.out.line(fmt::format("u32 {}_rest[{}];", f.name, total));
  dot.e.out.line(
      fmt::format("TW_EACH(i, {}) tw_split_tf32({}[i], {}_rest[i]);", total, f.name, f.name));
}

void emit_products(MmaDot& dot) {
  Emitter& e = dot.e;
  int fragment = layout::accumulator_fragment(dot.plan.tiling);
  auto index = [&](const std::string& tile, int tiles, int words) {
    std::string text = tiles > 1 ? tile : "";
    if (dot.batches > 1) text = text.empty() ? "b" : fmt::format("(b * {} + {})", tiles, text);
    if (dot.group > 1) text = text.empty() ? "s" : fmt::format("({} * {} + s)", text, dot.group);
    if (text.empty()) return std::string();
    return words == 1 ? " + " + text : fmt::format(" + {} * {}", text, words);
  };
  std::string place = dot.b.chunk > 1 ? "n" : "";
  if (dot.b.chunks() > 1) place = dot.b.chunk > 1 ? fmt::format("c * {} + n", dot.b.chunk) : "c";
  if (dot.counts.m > 1)
    place = place.empty() ? "m" : fmt::format("m * {} + {}", dot.counts.n, place);
  if (dot.counts.batch > 1) {
    std::string batch = dot.batch_groups() > 1 ? "z" : "";
    if (dot.batches > 1) batch = batch.empty() ? "b" : fmt::format("(z * {} + b)", dot.batches);
    place = fmt::format("{} * {}{}", batch, dot.counts.m * dot.counts.n,
                        place.empty() ? "" : " + " + place);
  }
  if (!place.empty()) place = fmt::format(" + {} * {}", paren(place), fragment);
  std::string loops;
  if (dot.batches > 1) loops += fmt::format("TW_EACH(b, {}) ", dot.batches);
  if (dot.group > 1) loops += fmt::format("TW_EACH(s, {}) ", dot.group);
  if (dot.counts.m > 1) loops += fmt::format("TW_EACH(m, {}) ", dot.counts.m);
  if (dot.b.chunk > 1) loops += fmt::format("TW_EACH(n, {}) ", dot.b.chunk);
  auto call = [&](std::string_view a_part, std::string_view b_part) {
    return fmt::format("{}({}{}, {}{}{}, {}{}{});", mma_function(dot), dot.acc, place, dot.a.name,
                       a_part, index("m", dot.counts.m, dot.a.words()), dot.b.name, b_part,
                       index("n", dot.b.chunk, dot.b.words()));
  };
  if (dot.plan.products == 3) {
    e.out.line(loops + call("_rest", ""));
    e.out.line(loops + call("", "_rest"));
  }
  e.out.line(loops + call("", ""));
}

void emit_fragments(MmaDot& dot, Fragments& f, std::string_view hint) {
  f.name = dot.e.fresh(hint);
  f.staged ? load_staged(dot, f) : pack_local(dot, f);
  if (dot.plan.products == 3) split(dot, f);
}

void emit_groups(MmaDot& dot) {
  Emitter& e = dot.e;
  std::string loops;
  if (dot.batch_groups() > 1) loops += fmt::format("TW_EACH(z, {}) ", dot.batch_groups());
  if (dot.groups() > 1) loops += fmt::format("TW_EACH(k, {}) ", dot.groups());
  e.out.open(loops);
  emit_fragments(dot, dot.a, "fa");
  bool chunked = dot.b.chunks() > 1;
  if (chunked) e.out.open(fmt::format("TW_EACH(c, {}) ", dot.b.chunks()));
  emit_fragments(dot, dot.b, "fb");
  emit_products(dot);
  if (chunked) e.out.close();
  e.out.close();
}

void emit_mma(Emitter& e, ir::OpId id, const DotPlan& plan) {
  const OpNode& op = e.module.op(id);
  const ir::Type& type = e.module.type(op.results[0]);
  MmaDot dot{.e = e, .id = id, .op = op, .plan = plan, .counts = {}, .a = {}, .b = {}, .acc = {}};
  dot.counts = layout::mma_counts(e.module.type(op.operands[0]).shape,
                                  e.module.type(op.operands[1]).shape, plan.tiling);
  dot.a = plan_fragments(dot, 0);
  dot.b = plan_fragments(dot, 1);
  find_groups(dot, dot.a);
  find_groups(dot, dot.b);
  constexpr int kWordsOfB = 8;  // two ldmatrix.x4
  find_chunk(dot, dot.a, dot.counts.m * dot.group * dot.batches * dot.a.words());
  find_chunk(dot, dot.b, kWordsOfB);
  View start = e.use(id, 2);  // may itself go through shared memory, so before the staging
  stage(dot);
  // f16 accumulators are summed in f32 and rounded once at the end.
  bool narrow = is_float(type.dtype) && type.dtype != Dtype::kF32 && type.dtype != Dtype::kF64;
  ir::Type sum_type = narrow ? type.with_dtype(Dtype::kF32) : type;
  View sum =
      e.declare(sum_type, plan.accumulator, narrow ? e.fresh("sum") : e.name_for(op.results[0]));
  dot.acc = sum.name;
  e.out.line(fmt::format("TW_EACH(i, {}) {}[i] = {};", sum.registers(), sum.name,
                         narrow ? fmt::format("tw_f32({})", start.at("i")) : start.at("i")));
  emit_groups(dot);
  if (!narrow) return e.define(op.results[0], std::move(sum));
  e.define_each(op.results[0], false, [&](const std::string& i) {
    return fmt::format("tw_cast<{}>({})", type_name(type), sum.at(i));
  });
}

}  // namespace

void emit_Dot(Emitter& e, ir::OpId id) {
  const DotPlan& plan = e.assignment.dots.at(id);
  if (plan.kind == DotPlan::Kind::kMma)
    emit_mma(e, id, plan);
  else
    emit_fma_dot(e, id, plan);
}

}  // namespace tilewright::cuda
