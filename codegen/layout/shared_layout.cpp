// The swizzle. Let an access of the reader touch, in one phase (32 lanes; 16 for 8-byte, 8 for
// 16-byte accesses and for the rows of an ldmatrix), the addresses a ^ span(v1 … vn) of the
// row-major map. Two of them conflict when they lie in the same bank (address bits 2-6) of
// different rows (bits 7 and up). By elimination on the bank bits the v become some that differ in
// the bank and some that do not; of each of the latter one row bit is a pivot that no other v has,
// and the swizzle adds to that row bit a chunk bit (4-6) that the phase does not use yet.
#include "codegen/layout/shared_layout.h"

#include <algorithm>
#include <bit>
#include <optional>

#include "codegen/layout/f2.h"
#include "dsl/base/check.h"

namespace tilewright::layout {
namespace {

using Kind = SharedAccess::Kind;

constexpr uint32_t kBankBits = 0x7c, kChunkBits = 0x70, kRow = 128;

struct Planner {
  const SharedLayout& shared;
  const LinearLayout& layout;
  const AccessOptions& options;
  ReplicationMask copies;
  f2::Matrix element_at;  // element for each bit of the address in elements
  int element_bits;       // log2 of the element's bytes

  Planner(const SharedLayout& s, const LinearLayout& l, const AccessOptions& o)
      : shared(s),
        layout(l),
        options(o),
        copies(replication_mask(l)),
        element_bits(std::countr_zero(static_cast<unsigned>(s.element_bytes))) {
    TW_CHECK(shared.shape == layout.shape, "access to a tile of another shape");
    f2::Matrix map;
    for (uint32_t offset : shared.offset) map.push_back(offset >> element_bits);
    auto inverse = f2::inverse(map);
    TW_CHECK(inverse.has_value(), "two elements in one place");
    element_at = *inverse;
  }

  uint32_t at(uint32_t element) const { return shared.at(element); }
  bool is_copy(size_t bit) const { return copies.reg >> bit & 1; }

  bool aligned(uint32_t bytes) const {
    auto fits = [&](uint32_t basis) { return at(basis) % bytes == 0; };
    return std::ranges::all_of(layout.lane, fits) && std::ranges::all_of(layout.warp, fits);
  }

  // Register bit masks that move the address by 1, 2, 4… elements, as many as there are.
  f2::Matrix vector_masks() const {
    f2::Matrix bases, bits;
    for (size_t i = 0; i < layout.reg.size(); ++i)
      if (!is_copy(i)) {
        bases.push_back(layout.reg[i]);
        bits.push_back(1u << i);
      }
    f2::Solver solver(bases);
    f2::Matrix masks;
    for (uint32_t element : element_at) {
      if (2 << (masks.size() + static_cast<size_t>(element_bits)) > options.max_vector_bytes) break;
      auto x = solver.solve(element);
      if (!x) break;
      masks.push_back(f2::apply(bits, *x));
    }
    while (!masks.empty() && !aligned(1u << (masks.size() + static_cast<size_t>(element_bits))))
      masks.pop_back();
    return masks;
  }

  // Whether a thread's 32-bit words and the four lanes of a row are what ldmatrix delivers: lanes
  // 0, 1 hold words 0-3 of 16 bytes of a row; the other lanes are rows.
  bool rows_fit() const {
    size_t word = static_cast<size_t>(2 - element_bits);
    if (element_bits > 2 || layout.reg.size() < word) return false;
    for (size_t i = 0; i < word; ++i)
      if (is_copy(i) || at(layout.reg[i]) != 1u << (i + static_cast<size_t>(element_bits)))
        return false;
    return at(layout.lane[0]) == 4 && at(layout.lane[1]) == 8 && rows({2, 3, 4}) &&
           others_aligned(word);
  }
  // The transposed form: lanes 2-4 are the 16-bit elements of a row; register bit 0 and lanes 0, 1
  // are rows.
  bool columns_fit() const {
    return element_bits == 1 && !layout.reg.empty() && !is_copy(0) && at(layout.lane[2]) == 2 &&
           at(layout.lane[3]) == 4 && at(layout.lane[4]) == 8 && at(layout.reg[0]) % 16 == 0 &&
           rows({0, 1}) && others_aligned(1);
  }
  // The same with two columns of 1-byte elements in each 16 bits, of registers that differ in the
  // bit that is returned: rows are register bits 0 (in a word) and 1 (another matrix).
  std::optional<size_t> byte_columns_fit() const {
    if (element_bits != 0 || layout.reg.size() < 3 || copies.reg != 0) return std::nullopt;
    size_t pair = 0;
    while (pair < layout.reg.size() && at(layout.reg[pair]) != 1) ++pair;
    bool fits = pair >= 2 && pair < layout.reg.size() && at(layout.lane[2]) == 2 &&
                at(layout.lane[3]) == 4 && at(layout.lane[4]) == 8 && rows({0, 1});
    for (size_t i = 0; i < layout.reg.size(); ++i)
      fits = fits && (i == pair || at(layout.reg[i]) % 16 == 0);
    for (uint32_t basis : layout.warp) fits = fits && at(basis) % 16 == 0;
    return fits ? std::optional(pair) : std::nullopt;
  }
  bool rows(std::initializer_list<size_t> lanes) const {
    return std::ranges::all_of(lanes, [&](size_t i) { return at(layout.lane[i]) % 16 == 0; });
  }
  bool others_aligned(size_t from) const {
    for (size_t i = from; i < layout.reg.size(); ++i)
      if (at(layout.reg[i]) % 16 != 0) return false;
    return std::ranges::all_of(layout.warp, [&](uint32_t basis) { return at(basis) % 16 == 0; });
  }

  SharedAccess start(Kind kind) const {
    SharedAccess access;
    access.kind = kind;
    access.copy_lanes = copies.lane;
    access.copy_warps = copies.warp;
    for (uint32_t basis : layout.warp) access.warp.push_back(at(basis));
    return access;
  }

  // Fills in registers and offsets: `masks` are the register bits of one access.
  void finish(SharedAccess& access, const f2::Matrix& masks) const {
    access.vector = 1 << masks.size();
    f2::Matrix other;
    f2::Span span(masks);
    for (size_t i = 0; i < layout.reg.size(); ++i)
      if (!is_copy(i) && span.insert(1u << i)) other.push_back(1u << i);
    uint32_t inside =
        access.kind == Kind::kVector ? static_cast<uint32_t>(access.vector - 1) << element_bits : 0;
    for (uint32_t k = 0; k < 1u << other.size(); ++k) {
      uint32_t first = f2::apply(other, k);
      uint32_t offset = at(f2::apply(layout.reg, first));
      first ^= f2::apply(masks, (offset & inside) >> element_bits);
      access.offsets.push_back(offset & ~inside);
      for (uint32_t v = 0; v < static_cast<uint32_t>(access.vector); ++v)
        access.registers.push_back(static_cast<int>(first ^ f2::apply(masks, v)));
    }
  }

  SharedAccess vectors() const {
    SharedAccess access = start(Kind::kVector);
    for (uint32_t basis : layout.lane) access.lane.push_back(at(basis));
    finish(access, vector_masks());
    return access;
  }

  SharedAccess matrices(Kind kind) const {
    SharedAccess access = start(kind);
    bool trans = kind == Kind::kLdmatrixTrans;
    f2::Matrix masks;
    size_t word = trans ? 1 : static_cast<size_t>(2 - element_bits);
    for (size_t i = 0; i < word; ++i) masks.push_back(1u << i);
    access.lane = trans ? f2::Matrix{at(layout.reg[0]), at(layout.lane[0]), at(layout.lane[1])}
                        : f2::Matrix{at(layout.lane[2]), at(layout.lane[3]), at(layout.lane[4])};
    // Up to four matrices an access.
    for (bool apart : {false, true})
      for (size_t i = word; i < layout.reg.size() && access.lane.size() < kLaneBits; ++i) {
        if (is_copy(i) || (options.apart >> i & 1) != apart) continue;
        if (apart && access.lane.size() > 3) continue;  // two matrices are enough
        masks.push_back(1u << i);
        access.lane.push_back(at(layout.reg[i]));
      }
    access.lane.resize(kLaneBits, 0);
    finish(access, masks);
    return access;
  }

  // Pairs of matrices whose words hold two columns: bytes (column 0, row 0), (1, 0), (0, 1), (1,
  // 1).
  SharedAccess byte_pairs(size_t pair) const {
    SharedAccess access = start(Kind::kLdmatrixTrans);
    f2::Matrix masks = {1u << pair, 1};
    access.lane = {at(layout.reg[0]), at(layout.lane[0]), at(layout.lane[1])};
    // Row bit 1 selects a matrix as the column does a fragment word; another bit beside it, on the
    // side where the words come out in order.
    std::vector<size_t> bits = {1};
    for (size_t i = 2; i < layout.reg.size() && bits.size() < 2; ++i)
      if (i != pair && !(options.apart >> i & 1))
        bits.insert(i < pair ? bits.begin() : bits.end(), i);
    for (size_t i : bits) {
      masks.push_back(1u << i);
      access.lane.push_back(at(layout.reg[i]));
    }
    access.lane.resize(kLaneBits, 0);
    finish(access, masks);
    return access;
  }
};

// Address differences within one phase of an access.
f2::Matrix phase(const SharedAccess& access, int element_bytes) {
  int lanes = kLaneBits;
  if (access.kind != Kind::kVector)
    lanes = 3;
  else
    for (int bytes = access.vector * element_bytes; bytes > 4; bytes /= 2) --lanes;
  return {access.lane.begin(), access.lane.begin() + lanes};
}

}  // namespace

int64_t SharedLayout::bytes() const {
  return std::max<int64_t>(kRow, element_count(shape) * element_bytes);
}

uint32_t SharedLayout::at(uint32_t element) const {
  return f2::apply(offset, element);
}

SharedLayout row_major(const Shape& shape, int element_bytes, const std::vector<int>& order) {
  SharedLayout result{shape, element_bytes,
                      std::vector<uint32_t>(static_cast<size_t>(index_bits(shape)))};
  auto next = static_cast<uint32_t>(element_bytes);
  for (int axis : order) {
    int shift = axis_shift(shape, axis);
    for (int64_t i = 1; i < shape[static_cast<size_t>(axis)]; i *= 2, next *= 2)
      result.offset[static_cast<size_t>(shift++)] = next;
  }
  return result;
}

SharedAccess plan_access(const SharedLayout& shared, const LinearLayout& layout, bool is_load,
                         const AccessOptions& options) {
  Planner planner(shared, layout, options);
  if (is_load && options.ldmatrix) {
    if (planner.rows_fit()) return planner.matrices(Kind::kLdmatrix);
    if (planner.columns_fit()) return planner.matrices(Kind::kLdmatrixTrans);
    if (auto pair = planner.byte_columns_fit()) return planner.byte_pairs(*pair);
  }
  return planner.vectors();
}

SharedLayout swizzled_for(const SharedLayout& plain, const LinearLayout& reader,
                          const AccessOptions& options) {
  SharedAccess access = plan_access(plain, reader, true, options);
  f2::Matrix meeting;  // lanes that differ in the row alone
  f2::Matrix distinct;
  f2::Span banks;
  for (uint32_t v : phase(access, plain.element_bytes)) {
    f2::Matrix bank_parts;
    for (uint32_t d : distinct) bank_parts.push_back(d & kBankBits);
    if (banks.insert(v & kBankBits)) {
      distinct.push_back(v);
      continue;
    }
    uint32_t row =
        (v ^ f2::apply(distinct, *f2::Solver(bank_parts).solve(v & kBankBits))) & ~(kRow - 1);
    // Echelon form, pivot the lowest bit.
    for (uint32_t m : meeting)
      if (row & m & (~m + 1)) row ^= m;
    if (row == 0) continue;  // the same word
    uint32_t pivot = row & (~row + 1);
    for (uint32_t& m : meeting)
      if (m & pivot) m ^= row;
    meeting.push_back(row);
  }
  std::ranges::sort(meeting, {}, [](uint32_t row) { return row & (~row + 1); });
  SharedLayout result = plain;
  uint32_t chunk = 16;
  for (uint32_t row : meeting) {
    while (chunk < kRow && !banks.insert(chunk)) chunk *= 2;
    if (chunk == kRow) break;
    uint32_t pivot = row & (~row + 1);
    for (uint32_t& offset : result.offset)
      if (offset == pivot) offset ^= chunk;
  }
  return result;
}

SharedLayout permute(const SharedLayout& shared, const std::vector<int>& order) {
  // The layout that gives element i to register i, as a carrier of the renamed index bits.
  LinearLayout names{shared.shape, {}, std::vector<uint32_t>(kLaneBits), {}};
  for (size_t i = 0; i < shared.offset.size(); ++i) names.reg.push_back(1u << i);
  names = permute(names, order);
  SharedLayout result{names.shape, shared.element_bytes,
                      std::vector<uint32_t>(shared.offset.size())};
  for (size_t i = 0; i < names.reg.size(); ++i)
    result.offset[static_cast<size_t>(std::countr_zero(names.reg[i]))] = shared.offset[i];
  return result;
}

SharedLayout reshape(const SharedLayout& shared, const Shape& shape) {
  TW_CHECK(element_count(shape) == element_count(shared.shape), "reshape changes the size");
  SharedLayout result = shared;
  result.shape = shape;
  return result;
}

}  // namespace tilewright::layout
