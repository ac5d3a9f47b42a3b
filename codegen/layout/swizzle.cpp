// Where the elements of a tile lie in shared memory is a basis of the index space, one element
// vector for each bit of the address, low bits first:
//
//   [ vector | banks | rows | repeats ]
//
// `vector` holds registers of a side, so that they move as one access; 128 bytes of vector and
// banks are one row over all 32 banks. A side is free of conflicts when no two lanes of one phase
// (32 lanes, 16 for 8-byte, 8 for 16-byte accesses) differ by a vector in span(rows): then they
// differ in the bank, or not at all. With P = span(lanes of a phase, bits within a word or vector),
// rows must be a common complement of the P of both sides: unit vectors outside of both, then sums
// a + b of a vector a only in the one P and b only in the other. These sums are the swizzle (the
// method of arXiv:2505.23819, section 5.4). Repeats are register bits both layouts share; the
// buffer is reused for each of their values.
//
// A vector wider on one side than on the other restricts the sums, as no thread may see its vector
// permuted; so several vectors are tried, each plan is checked, and the cheapest is taken.
#include "codegen/layout/swizzle.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <optional>

#include "codegen/layout/f2.h"
#include "dsl/base/check.h"

namespace tilewright::layout {
namespace {

constexpr int kRowBits = 7;     // log2 of 32 banks x 4 bytes
constexpr int kVectorBits = 4;  // log2 of 16 bytes

using Kind = SharedAccess::Kind;

// What is tried: the low address bits and how many of them each side moves at once.
struct Head {
  f2::Matrix columns;
  int store_bits = 0, load_bits = 0;
  Kind load_kind = Kind::kVector;
};

struct Problem {
  const LinearLayout& from;
  const LinearLayout& to;
  ReplicationMask from_copies, to_copies;
  int element_bits;  // log2 of the element's bytes
  ConversionOptions options;

  int size() const { return index_bits(from.shape); }
  int row_bits() const { return kRowBits - element_bits; }
};

// The bases for the bits that are not set in `copies`, with the bit they belong to.
struct Bit {
  uint32_t basis;
  uint32_t bit;
};
std::vector<Bit> distinct(const std::vector<uint32_t>& bases, uint32_t copies) {
  std::vector<Bit> result;
  for (size_t i = 0; i < bases.size(); ++i)
    if (!(copies >> i & 1)) result.push_back({bases[i], 1u << i});
  return result;
}
f2::Matrix vectors(const std::vector<Bit>& bits) {
  f2::Matrix result;
  for (const Bit& b : bits) result.push_back(b.basis);
  return result;
}

f2::Matrix from_registers(const Problem& p) {
  return vectors(distinct(p.from.reg, p.from_copies.reg));
}
f2::Matrix to_registers(const Problem& p) {
  return vectors(distinct(p.to.reg, p.to_copies.reg));
}

void extend(Head& head, const f2::Matrix& registers, int limit, int& bits) {
  f2::Span span(head.columns);
  for (uint32_t basis : registers)
    if (static_cast<int>(head.columns.size()) < limit && span.insert(basis))
      head.columns.push_back(basis);
  bits = static_cast<int>(head.columns.size());
}

std::vector<Head> ldmatrix_heads(const Problem& p) {
  const LinearLayout& to = p.to;
  if (!p.options.ldmatrix || p.element_bits != 1 || to.reg.empty() || to.reg[0] == 0) return {};
  f2::Span span;
  span.insert(to.reg[0]);
  for (uint32_t lane : to.lane)
    if (!span.insert(lane)) return {};
  std::vector<Head> heads = {{{to.reg[0], to.lane[0], to.lane[1]}, 0, 3, Kind::kLdmatrix},
                             {{to.lane[2], to.lane[3], to.lane[4]}, 0, 3, Kind::kLdmatrixTrans}};
  f2::Span registers(from_registers(p));
  for (Head& head : heads)
    while (head.store_bits < 3 && registers.contains(head.columns[head.store_bits]))
      ++head.store_bits;
  return heads;
}

std::vector<Head> candidate_heads(const Problem& p) {
  f2::Matrix store = from_registers(p), load = to_registers(p);
  f2::Matrix common = f2::intersection(store, load);
  std::ranges::sort(common);
  std::ranges::sort(store);
  std::ranges::sort(load);
  int limit = kVectorBits - p.element_bits;
  if (static_cast<int>(common.size()) > limit) common.resize(limit);
  Head both{common, static_cast<int>(common.size()), static_cast<int>(common.size())};
  std::vector<Head> heads = ldmatrix_heads(p);
  heads.push_back(both);
  Head wide_store = both, wide_load = both;
  extend(wide_store, store, limit, wide_store.store_bits);
  extend(wide_load, load, limit, wide_load.load_bits);
  heads.push_back(wide_store);
  heads.push_back(wide_load);
  heads.push_back({});  // one element at a time: always possible
  return heads;
}

// P: differences between what the lanes of one phase touch, and the bits inside an access or word.
f2::Span phase_span(const Problem& p, const f2::Matrix& head, const LinearLayout& layout,
                    uint32_t copies, int vector_bits, Kind kind) {
  f2::Matrix lanes;
  if (kind == Kind::kLdmatrix) {
    lanes = {layout.lane[2], layout.lane[3], layout.lane[4]};
  } else if (kind == Kind::kLdmatrixTrans) {
    lanes = {layout.reg[0], layout.lane[0], layout.lane[1]};
  } else {
    int beyond_word = std::max(0, vector_bits + p.element_bits - 2);
    for (int i = 0; i < kLaneBits - beyond_word; ++i)
      if (!(copies >> i & 1)) lanes.push_back(layout.lane[i]);
  }
  f2::Span span(lanes);
  int inside = std::max(vector_bits, 2 - p.element_bits);
  for (int i = 0; i < inside && i < static_cast<int>(head.size()); ++i) span.insert(head[i]);
  return span;
}

// All bases of the source layout that are not repeats, ascending: what columns are filled up from.
f2::Matrix filler(const Problem& p, const f2::Matrix& repeats) {
  f2::Matrix all = from_registers(p);
  for (const Bit& b : distinct(p.from.lane, p.from_copies.lane)) all.push_back(b.basis);
  for (const Bit& b : distinct(p.from.warp, p.from_copies.warp)) all.push_back(b.basis);
  std::erase_if(all, [&](uint32_t v) { return std::ranges::count(repeats, v) > 0; });
  std::ranges::sort(all);
  return all;
}

f2::Matrix difference(const f2::Span& of, const f2::Matrix& candidates, const f2::Span& without) {
  f2::Matrix result;
  f2::Span span = without;
  for (uint32_t v : candidates)
    if (of.contains(v) && span.insert(v)) result.push_back(v);
  return result;
}

// `rows`: see the top of the file. Vectors of `head` never enter a sum.
f2::Matrix choose_rows(const Problem& p, const f2::Span& store, const f2::Span& load,
                       const f2::Matrix& head, const f2::Matrix& fill, int count) {
  f2::Matrix rows;
  f2::Span outside;                // span(P of store, P of load, rows so far)
  f2::Matrix lanes = p.from.lane;  // and registers: what the spans may be made of
  lanes.insert(lanes.end(), p.to.lane.begin(), p.to.lane.end());
  lanes.insert(lanes.end(), p.to.reg.begin(), p.to.reg.end());  // rows of a transposing ldmatrix
  for (const f2::Matrix* group : {static_cast<const f2::Matrix*>(&lanes), &head})
    for (uint32_t v : *group)
      if (store.contains(v) || load.contains(v)) outside.insert(v);
  for (auto v = fill.rbegin(); v != fill.rend(); ++v)
    if (static_cast<int>(rows.size()) < count && outside.insert(*v)) rows.push_back(*v);
  std::ranges::reverse(rows);
  f2::Matrix only_store, only_load;
  f2::Span store_or_head = store, load_or_head = load;
  for (uint32_t v : head) {
    store_or_head.insert(v);
    load_or_head.insert(v);
  }
  only_store = difference(store, lanes, load_or_head);
  only_load = difference(load, lanes, store_or_head);
  for (size_t i = 0; i < only_store.size() && i < only_load.size(); ++i)
    if (static_cast<int>(rows.size()) < count) rows.push_back(only_store[i] ^ only_load[i]);
  return rows;
}

// Element index -> element offset in the buffer, by columns; bits from `size` on tell the repeat.
struct Placement {
  f2::Matrix columns;
  int size = 0;
  uint32_t offset(uint32_t element) const { return whole(element) & ((1u << size) - 1); }
  uint32_t whole(uint32_t element) const { return f2::apply(columns, element); }
};

std::optional<Placement> place(const Problem& p, Head& head, const f2::Matrix& repeats) {
  int size = p.size() - static_cast<int>(repeats.size());
  f2::Matrix fill = filler(p, repeats);
  f2::Span chosen(repeats);
  for (uint32_t v : head.columns)
    if (!chosen.insert(v)) return std::nullopt;
  f2::Matrix address = head.columns;
  auto fill_up = [&](int length) {
    for (uint32_t v : fill)
      if (static_cast<int>(address.size()) < length && chosen.insert(v)) address.push_back(v);
  };
  fill_up(std::min(size, 2 - p.element_bits));  // a whole word
  f2::Span store =
      phase_span(p, address, p.from, p.from_copies.lane, head.store_bits, Kind::kVector);
  f2::Span load = phase_span(p, address, p.to, p.to_copies.lane, head.load_bits, head.load_kind);
  f2::Matrix rows;
  if (size > p.row_bits()) {
    rows = choose_rows(p, store, load, address, fill, size - p.row_bits());
    std::erase_if(rows, [&](uint32_t v) { return !chosen.insert(v); });
  }
  fill_up(size - static_cast<int>(rows.size()));
  address.insert(address.end(), rows.begin(), rows.end());
  address.insert(address.end(), repeats.begin(), repeats.end());
  auto inverse = f2::inverse(address);
  if (!inverse || static_cast<int>(address.size()) != p.size()) return std::nullopt;
  return Placement{*inverse, size};
}

// Builds one side's accesses; nullopt if a thread would see its vector permuted, or a lane or warp
// would change the repeat.
std::optional<SharedAccess> build_access(const Problem& p, const Placement& placement,
                                         const LinearLayout& layout, const ReplicationMask& copies,
                                         const f2::Matrix& vector_columns, Kind kind,
                                         const f2::Matrix& repeats) {
  uint32_t vector_mask = (1u << vector_columns.size()) - 1;
  bool legal = true;
  auto bytes_of = [&](uint32_t element, bool is_row_of_matrix) {
    uint32_t offset = placement.whole(element);
    if (offset >> placement.size) legal = false;
    if (!is_row_of_matrix && (offset & vector_mask)) legal = false;
    return (offset & ((1u << placement.size) - 1)) << p.element_bits;
  };
  SharedAccess access;
  access.kind = kind;
  access.copy_lanes = copies.lane;
  access.copy_warps = copies.warp;

  std::vector<Bit> registers = distinct(layout.reg, copies.reg);
  f2::Matrix masks;  // register bits that move in one access, fastest first
  if (kind == Kind::kVector) {
    f2::Solver solver(vectors(registers));
    for (uint32_t column : vector_columns) {
      auto x = solver.solve(column);
      TW_CHECK(x.has_value(), "a vector column is no register");
      uint32_t mask = 0;
      for (size_t i = 0; i < registers.size(); ++i)
        if (*x >> i & 1) mask |= registers[i].bit;
      masks.push_back(mask);
    }
    for (uint32_t basis : layout.lane) access.lane.push_back(bytes_of(basis, false));
  } else {
    masks.push_back(1);  // the pair
    const auto& l = layout.lane;
    f2::Matrix rows = kind == Kind::kLdmatrix ? f2::Matrix{l[2], l[3], l[4]}
                                              : f2::Matrix{layout.reg[0], l[0], l[1]};
    for (uint32_t basis : rows) access.lane.push_back(bytes_of(basis, false));
    for (const Bit& b : registers)
      if (b.bit != 1 && access.lane.size() < kLaneBits &&
          std::ranges::count(repeats, b.basis) == 0) {
        masks.push_back(b.bit);
        access.lane.push_back(bytes_of(b.basis, false));
      }
    access.lane.resize(kLaneBits, 0);
  }
  for (uint32_t basis : layout.warp) access.warp.push_back(bytes_of(basis, false));
  access.vector = 1 << masks.size();

  f2::Matrix other, last;  // register bits that count accesses; those that repeat come last
  f2::Span span(masks);
  for (const Bit& b : registers)
    if (span.insert(b.bit))
      (std::ranges::count(repeats, b.basis) > 0 ? last : other).push_back(b.bit);
  // In the order of `repeats`, so that both sides take the same turn.
  std::ranges::sort(last, {}, [&](uint32_t bit) {
    return std::ranges::find(repeats, layout.reg[std::countr_zero(bit)]) - repeats.begin();
  });
  other.insert(other.end(), last.begin(), last.end());
  for (uint32_t k = 0; k < 1u << other.size(); ++k) {
    uint32_t first = f2::apply(other, k);
    uint32_t offset = placement.offset(f2::apply(layout.reg, first));
    if (kind == Kind::kVector)
      first ^= f2::apply(masks, offset & vector_mask);
    else if (offset & vector_mask)
      legal = false;
    uint32_t turn = placement.whole(f2::apply(layout.reg, first)) >> placement.size;
    if (turn != k >> (other.size() - last.size())) legal = false;
    access.offsets.push_back((offset & ~vector_mask) << p.element_bits);
    for (int v = 0; v < access.vector; ++v)
      access.registers.push_back(static_cast<int>(first ^ f2::apply(masks, v)));
  }
  if (!legal) return std::nullopt;
  return access;
}

// Register bits both layouts have, from the highest, as many as bring the buffer to the limit.
f2::Matrix choose_repeats(const Problem& p, const Head& head) {
  f2::Matrix repeats;
  int64_t bytes = int64_t{1} << (p.size() + p.element_bits);
  f2::Matrix store = from_registers(p), load = to_registers(p);
  std::ranges::sort(store, std::greater{});
  for (uint32_t v : store) {
    if (p.options.max_shared_bytes == 0 || bytes <= p.options.max_shared_bytes) break;
    if (std::ranges::count(load, v) == 0 || std::ranges::count(head.columns, v) > 0) continue;
    if (head.load_kind != Kind::kVector && v == p.to.reg[0]) continue;
    repeats.push_back(v);
    bytes /= 2;
  }
  return repeats;
}

std::optional<Conversion::Shared> plan_with(const Problem& p, Head head,
                                            const f2::Matrix& repeats) {
  auto placement = place(p, head, repeats);
  if (!placement) return std::nullopt;
  auto leading = [&](int count) {
    return f2::Matrix(head.columns.begin(), head.columns.begin() + count);
  };
  auto store = build_access(p, *placement, p.from, p.from_copies, leading(head.store_bits),
                            Kind::kVector, repeats);
  auto load = build_access(p, *placement, p.to, p.to_copies, leading(head.load_bits),
                           head.load_kind, repeats);
  if (!store || !load) return std::nullopt;
  return Conversion::Shared{std::move(*store), std::move(*load),
                            int64_t{1} << (placement->size + p.element_bits), 1 << repeats.size()};
}

}  // namespace

Conversion::Shared plan_shared(const LinearLayout& from, const LinearLayout& to, int element_bytes,
                               const ConversionOptions& options) {
  TW_CHECK(element_bytes == 1 || element_bytes == 2 || element_bytes == 4 || element_bytes == 8,
           "elements have 1, 2, 4 or 8 bytes");
  Problem p{from,
            to,
            replication_mask(from),
            replication_mask(to),
            std::countr_zero(static_cast<unsigned>(element_bytes)),
            options};
  std::optional<Conversion> best;
  int64_t best_cost = 0;
  auto consider = [&](std::optional<Conversion::Shared> plan) {
    if (!plan) return;
    Conversion conversion;
    conversion.kind = Conversion::Kind::kShared;
    conversion.shared = std::move(*plan);
    int64_t cost = conversion_cost(conversion, element_bytes);
    bool fits =
        options.max_shared_bytes == 0 || conversion.shared.bytes <= options.max_shared_bytes;
    bool best_fits =
        best && (options.max_shared_bytes == 0 || best->shared.bytes <= options.max_shared_bytes);
    if (!best || fits > best_fits || (fits == best_fits && cost < best_cost)) {
      best = std::move(conversion);
      best_cost = cost;
    }
  };
  for (const Head& head : candidate_heads(p)) {
    f2::Matrix repeats = choose_repeats(p, head);
    consider(plan_with(p, head, repeats));
    if (!repeats.empty()) consider(plan_with(p, head, {}));
  }
  TW_CHECK(best.has_value(), "no plan: " + to_string(from) + " to " + to_string(to));
  return best->shared;
}

Wavefronts count_wavefronts(const SharedAccess& access, int element_bytes) {
  int bytes = access.vector * element_bytes, lanes = 32, phases = 1, rows = bytes;
  if (access.kind != Kind::kVector) {
    rows = 16;
    lanes = 8;
    phases = access.matrices(element_bytes);
  } else if (bytes > 4) {
    lanes = 128 / bytes;
    phases = 32 / lanes;
  }
  Wavefronts count;
  for (int phase = 0; phase < phases; ++phase) {
    std::vector<uint32_t> words;
    for (int lane = phase * lanes; lane < (phase + 1) * lanes; ++lane) {
      uint32_t address = f2::apply(access.lane, lane);
      for (int b = 0; b < rows; b += 4) words.push_back((address + b) / 4);
    }
    std::ranges::sort(words);
    words.erase(std::unique(words.begin(), words.end()), words.end());
    int in_bank[32] = {};
    int most = 0;
    for (uint32_t word : words) most = std::max(most, ++in_bank[word % 32]);
    count.actual += most;
    count.ideal += 1;
  }
  count.actual *= access.accesses();
  count.ideal *= access.accesses();
  return count;
}

}  // namespace tilewright::layout
