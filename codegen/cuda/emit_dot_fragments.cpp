// Fragments of a dot's operand into registers, one set (a step along K, a chunk of tiles) at a
// time. Addresses are a few variables, one for each pattern of swizzled bits; all else is an
// immediate.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "codegen/cuda/emit_dot.h"
#include "dsl/base/check.h"

namespace tilewright::cuda {
namespace {

using Kind = layout::SharedAccess::Kind;

std::string word_type(const DotOperand& f) {
  return f.dtype == Dtype::kF64 ? "f64" : "u32";
}

std::string plus(const std::string& name, int offset) {
  return offset == 0 ? name : fmt::format("{} + {}", name, offset);
}

// 8-bit elements by ldmatrix.trans: a word has two rows of two columns. The words of rows 0, 1 and
// of rows 2, 3 lie where those of the two columns belong until tw_unpair_bytes makes them such.
bool pairs_bytes(const DotOperand& f) {
  return f.in_shared && f.load.kind == Kind::kLdmatrixTrans && f.packed == 4;
}
constexpr int kRowPair = 2;  // register bit of rows 2, 3
int column_bit(const DotOperand& f) {
  return f.load.registers[0] ^ f.load.registers[1];
}

// Of one load access: the words it fills, in order; empty if it does not deliver whole words.
std::vector<int> filled_words(const MmaDot& dot, const DotOperand& f, int k) {
  std::vector<int> words;
  if (pairs_bytes(f)) {
    for (int j = 0; j < f.load.vector; j += f.packed) {
      int r = f.load.registers[static_cast<size_t>(k * f.load.vector + j)];
      if (r & kRowPair) r ^= kRowPair | column_bit(f);
      words.push_back(dot.local(f, r) / f.packed);
    }
    return words;
  }
  if (f.load.vector % f.packed != 0) return {};
  for (int j = 0; j < f.load.vector; ++j) {
    int local = dot.local(f, f.load.registers[static_cast<size_t>(k * f.load.vector + j)]);
    if (local % f.packed != j % f.packed) return {};
    if (j % f.packed == 0) words.push_back(local / f.packed);
    if (local / f.packed != words.back()) return {};
  }
  return words;
}

bool consecutive(const std::vector<int>& words) {
  for (size_t i = 1; i < words.size(); ++i)
    if (words[i] != words[0] + static_cast<int>(i)) return false;
  return true;
}

// Values narrower than a word, or not in order, are loaded one by one and packed when they are
// used.
bool by_value(const MmaDot& dot, const DotOperand& f) {
  return f.in_shared && f.load.kind == Kind::kVector && filled_words(dot, f, 0).empty();
}

bool belongs(const MmaDot& dot, const DotOperand& f, int r, const FragmentSet& which) {
  return f.batch_of(r) / dot.batches == which.batch_group &&
         f.k_tile(r) / dot.group == which.k_group && f.tile(r) / f.chunk == which.chunk;
}

// The load accesses of a set in the order of the words.
std::vector<int> accesses_of(const MmaDot& dot, const DotOperand& f, const FragmentSet& which) {
  std::vector<std::pair<int, int>> order;
  for (int k = 0; k < f.load.accesses(); ++k) {
    int r = f.load.registers[static_cast<size_t>(k * f.load.vector)];
    if (belongs(dot, f, r, which)) order.emplace_back(dot.local(f, r), k);
  }
  std::ranges::sort(order);
  std::vector<int> result;
  for (auto [local, k] : order) result.push_back(k);
  return result;
}

std::string matrix_load(const DotOperand& f, const std::string& to, const std::string& at,
                        uint32_t offset) {
  std::string_view trans = f.load.kind == Kind::kLdmatrixTrans ? "_trans" : "";
  int count = f.load.vector / f.packed;
  return fmt::format("tw_ldmatrix{}<{}, {}>({}, {});", trans, count, offset, to, at);
}

void load_shared(MmaDot& dot, const DotOperand& f, const FragmentSet& which, int set) {
  Emitter& e = dot.e;
  SharedPlace place(e, f.load, f.start);
  std::string name = fragment_words(dot, f, set), type = type_name(f.view.type);
  bool values = by_value(dot, f);
  for (int k : accesses_of(dot, f, which)) {
    uint32_t offset = f.load.offsets[static_cast<size_t>(k)];
    const std::string& at = f.addresses.at(place.meeting(offset));
    uint32_t immediate = place.apart(offset) + static_cast<uint32_t>(f.start.bytes);
    std::string sum = immediate == 0 ? at : fmt::format("{} + {}", at, immediate);
    std::vector<int> words = filled_words(dot, f, k);
    int count = static_cast<int>(words.size());
    if (values) {
      std::string text = fmt::format("{{ {} t[{}]; tw_shared_load<{}>(t, {});", type, f.load.vector,
                                     f.load.vector, sum);
      for (int j = 0; j < f.load.vector; ++j) {
        int r = f.load.registers[static_cast<size_t>(k * f.load.vector + j)];
        text += fmt::format(" {}_values[{}] = t[{}];", f.name,
                            set * dot.words(f) * f.packed + dot.local(f, r), j);
      }
      e.out.line(text + " }");
    } else if (consecutive(words)) {
      std::string to = plus(f.name, set * dot.words(f) + words[0]);
      e.out.line(f.load.kind == Kind::kVector
                     ? fmt::format("tw_shared_load<{}>({}, {});", count, to, sum)
                     : matrix_load(f, to, at, immediate));
    } else {
      std::string text = fmt::format("{{ {} w[{}]; ", word_type(f), count);
      text += f.load.kind == Kind::kVector ? fmt::format("tw_shared_load<{}>(w, {});", count, sum)
                                           : matrix_load(f, "w", at, immediate);
      for (int j = 0; j < count; ++j)
        text += fmt::format(" {}[{}] = w[{}];", f.name,
                            set * dot.words(f) + words[static_cast<size_t>(j)], j);
      e.out.line(text + " }");
    }
  }
}

// The words of fragments that are in registers.
void pack_local(MmaDot& dot, const DotOperand& f, const FragmentSet& which, int set) {
  Emitter& e = dot.e;
  int total = dot.words(f);
  std::vector<std::vector<uint32_t>> tables(1 + static_cast<size_t>(f.packed));
  for (int w = 0; w < total; ++w) {
    tables[0].push_back(static_cast<uint32_t>(set * total + w));
    int kk = w / f.words() % dot.group, place = w / (f.words() * dot.group);
    for (int j = 0; j < f.packed; ++j) {
      int r = f.register_of(which.batch_group * dot.batches + place / f.chunk,
                            which.chunk * f.chunk + place % f.chunk, which.k_group * dot.group + kk,
                            w % f.words() * f.packed + j);
      tables[1 + static_cast<size_t>(j)].push_back(f.view.index(static_cast<uint32_t>(r)));
    }
  }
  e.each(tables, [&](const std::vector<std::string>& i) {
    std::string list;
    for (size_t j = 1; j < i.size(); ++j) list += (j > 1 ? ", " : "") + f.view.element(i[j]);
    if (f.dtype == Dtype::kF64)
      return fmt::format("{}[{}] = {};", f.name, without_parens(i[0]), list);
    return fmt::format("{{ const {} t[{}] = {{{}}}; tw_to_words<{}>({} + {}, t); }}",
                       type_name(f.view.type), f.packed, list, f.packed, f.name, i[0]);
  });
}

void unpair(MmaDot& dot, const DotOperand& f, const FragmentSet& which, int set) {
  int registers = f.values * f.k_tiles * f.tiles * f.batch, column = column_bit(f);
  std::vector<std::vector<uint32_t>> tables(2);
  for (int r = 0; r < registers; r += f.packed) {
    if ((r & column) != 0 || !belongs(dot, f, r, which)) continue;
    for (int side = 0; side < 2; ++side)
      tables[static_cast<size_t>(side)].push_back(static_cast<uint32_t>(
          set * dot.words(f) + dot.local(f, r | (side ? column : 0)) / f.packed));
  }
  dot.e.each(tables, [&](const std::vector<std::string>& i) {
    return fmt::format("tw_unpair_bytes({}[{}], {}[{}]);", f.name, without_parens(i[0]), f.name,
                       without_parens(i[1]));
  });
}

}  // namespace

std::string fragment_words(const MmaDot& dot, const DotOperand& f, int set,
                           std::string_view suffix) {
  return plus(f.name + std::string(suffix), set * dot.words(f));
}

void declare_fragments(MmaDot& dot, DotOperand& f, std::string_view hint) {
  Emitter& e = dot.e;
  f.name = e.fresh(hint);
  int total = f.sets * dot.words(f);
  e.out.line(fmt::format("{} {}[{}];", word_type(f), f.name, total));
  if (dot.plan.unit.products > 1) e.out.line(fmt::format("u32 {}_rest[{}];", f.name, total));
  if (by_value(dot, f))
    e.out.line(fmt::format("{} {}_values[{}];", type_name(f.view.type), f.name, total * f.packed));
}

void declare_addresses(MmaDot& dot, DotOperand& f) {
  if (!f.in_shared) return;
  SharedPlace place(dot.e, f.load, f.start);
  std::set<uint32_t> patterns;
  for (uint32_t offset : f.load.offsets) patterns.insert(place.meeting(offset));
  for (uint32_t pattern : patterns) f.addresses[pattern] = place.base(f.name + "_at", pattern);
}

void load_fragments(MmaDot& dot, const DotOperand& f, const FragmentSet& which, int set) {
  if (f.in_shared) load_shared(dot, f, which, set);
}

void finish_fragments(MmaDot& dot, const DotOperand& f, const FragmentSet& which, int set) {
  Emitter& e = dot.e;
  int total = dot.words(f), first = set * total;
  auto at = [&](std::string_view suffix) {
    return fmt::format("{}{}[{}i]", f.name, suffix,
                       first == 0 ? std::string() : fmt::format("{} + ", first));
  };
  if (!f.in_shared) pack_local(dot, f, which, set);
  if (pairs_bytes(f)) unpair(dot, f, which, set);
  if (by_value(dot, f)) {
    std::string values = plus(f.name + "_values", first * f.packed);
    std::string each = f.packed == 1 ? "i" : fmt::format("i * {}", f.packed);
    e.out.line(f.dtype == Dtype::kF64
                   ? fmt::format("TW_EACH(i, {}) {} = {};", total, at(""), at("_values"))
                   : fmt::format("TW_EACH(i, {}) tw_to_words<{}>({} + i, {} + {});", total,
                                 f.packed, fragment_words(dot, f, set), values, each));
  }
  const Unit& unit = dot.plan.unit;
  if (f.dtype == Dtype::kF32 && unit.products == 1)
    e.out.line(fmt::format("TW_EACH(i, {}) {} = tw_tf32_operand(tw_bitcast<f32>({}));", total,
                           at(""), at("")));
  if (unit.products > 1)
    e.out.line(fmt::format("TW_EACH(i, {}) tw_split_{}({}, {});", total,
                           &f == &dot.a ? unit.split_a : unit.split_b, at(""), at("_rest")));
}

}  // namespace tilewright::cuda
