#include "codegen/layout/mma.h"

#include <algorithm>
#include <bit>

#include "dsl/base/check.h"

namespace tilewright::layout {
namespace {

int log2_of(int64_t value) {
  TW_CHECK(value > 0 && std::has_single_bit(static_cast<uint64_t>(value)), "not a power of two");
  return std::countr_zero(static_cast<uint64_t>(value));
}

// Values in one 32-bit register (one for wider types).
int packed(const MmaTiling& tiling) {
  return tiling.element_bits >= 32 ? 1 : 32 / tiling.element_bits;
}

// Hands out the index bits of one dimension, low ones first; interleaved: 1, 2, 3, 0, 4, ….
class Axis {
 public:
  Axis(const Shape& shape, int axis, bool interleaved = false)
      : shift_(axis_shift(shape, axis)), left_(log2_of(shape[axis])) {
    for (int i = 0; i < left_; ++i) order_.push_back(interleaved && i < 4 ? (i + 1) % 4 : i);
    TW_CHECK(!interleaved || left_ >= 4, "a dimension of 16 can be interleaved");
  }

  // A zero basis when the dimension is used up: what the instruction has more than the tile are
  // copies.
  uint32_t take() {
    if (left_ == 0) return 0;
    --left_;
    return 1u << (shift_ + order_[static_cast<size_t>(next_++)]);
  }
  // Takes from the top, leaving at least nothing: a zero basis when the dimension is used up.
  uint32_t take_top() {
    if (left_ == 0) return 0;
    --left_;
    return 1u << (shift_ + order_[static_cast<size_t>(next_ + left_)]);
  }
  int left() const { return left_; }

 private:
  int shift_;
  int left_;
  int next_ = 0;
  std::vector<int> order_;
};

void take_all(Axis& axis, std::vector<uint32_t>& into) {
  while (axis.left() > 0) into.push_back(axis.take());
}

// The top `bits` of a dimension as warp bases, in ascending order; zero bases where it is too
// small.
std::vector<uint32_t> warp_bases(Axis& axis, int bits) {
  std::vector<uint32_t> bases;
  for (int i = 0; i < bits; ++i) {
    uint32_t basis = axis.take_top();
    bases.insert(basis == 0 ? bases.end() : bases.begin(), basis);
  }
  return bases;
}

// Columns that A holds of an instruction.
int a_columns(const MmaTiling& tiling) {
  return tiling.sparse ? tiling.instruction.k / 2 : tiling.instruction.k;
}

Axis k_axis(const Shape& shape, int axis, int64_t least) {
  TW_CHECK(shape[axis] >= least,
           "K of the tile is smaller than the instruction's: copies would be summed");
  return {shape, axis};
}

// What a lane holds of K beyond its first register: the same again 4p columns further.
void take_k_parts(Axis& k, int columns, const MmaTiling& tiling, std::vector<uint32_t>& into) {
  for (int i = 4 * packed(tiling); i < columns; i *= 2) into.push_back(k.take());
}

// Bits of metadata of one row in a register.
int row_bits(const MmaTiling& tiling) {
  return tiling.element_bits == 8 ? 32 : 16;
}

void take_batch(const Shape& shape, std::vector<uint32_t>& into) {
  TW_CHECK(shape.size() == 2 || shape.size() == 3, "a matrix tile has 2 or 3 dimensions");
  if (shape.size() == 3) {
    Axis batch(shape, 0);
    take_all(batch, into);
  }
}

}  // namespace

LinearLayout mma_accumulator(const Shape& shape, const MmaTiling& tiling) {
  int rank = static_cast<int>(shape.size());
  Axis m(shape, rank - 2, tiling.interleaved_m), n(shape, rank - 1, tiling.interleaved_n);
  LinearLayout layout;
  layout.shape = shape;
  layout.reg.push_back(n.take());
  layout.lane = {n.take(), n.take(), m.take(), m.take(), m.take()};
  if (tiling.instruction.m == 16) layout.reg.push_back(m.take());
  layout.warp = warp_bases(m, log2_of(tiling.warps_m));
  for (uint32_t basis : warp_bases(n, log2_of(tiling.warps_n))) layout.warp.push_back(basis);
  take_all(n, layout.reg);
  take_all(m, layout.reg);
  take_batch(shape, layout.reg);
  return layout;
}

LinearLayout mma_operand_a(const Shape& shape, const MmaTiling& tiling) {
  int rank = static_cast<int>(shape.size());
  Axis m(shape, rank - 2, tiling.interleaved_m), k = k_axis(shape, rank - 1, a_columns(tiling));
  LinearLayout layout;
  layout.shape = shape;
  for (int i = 1; i < packed(tiling); i *= 2) layout.reg.push_back(k.take());
  layout.lane = {k.take(), k.take(), m.take(), m.take(), m.take()};
  if (tiling.instruction.m == 16) layout.reg.push_back(m.take());
  take_k_parts(k, a_columns(tiling), tiling, layout.reg);
  layout.warp = warp_bases(m, log2_of(tiling.warps_m));
  layout.warp.resize(layout.warp.size() + log2_of(tiling.warps_n), 0);
  take_all(k, layout.reg);
  take_all(m, layout.reg);
  take_batch(shape, layout.reg);
  return layout;
}

LinearLayout mma_operand_b(const Shape& shape, const MmaTiling& tiling) {
  int rank = static_cast<int>(shape.size());
  Axis k = k_axis(shape, rank - 2, tiling.instruction.k), n(shape, rank - 1, tiling.interleaved_n);
  LinearLayout layout;
  layout.shape = shape;
  for (int i = 1; i < packed(tiling); i *= 2) layout.reg.push_back(k.take());
  layout.lane = {k.take(), k.take(), n.take(), n.take(), n.take()};
  take_k_parts(k, tiling.instruction.k, tiling, layout.reg);
  layout.warp.assign(log2_of(tiling.warps_m), 0);
  for (uint32_t basis : warp_bases(n, log2_of(tiling.warps_n))) layout.warp.push_back(basis);
  take_all(k, layout.reg);
  take_all(n, layout.reg);
  take_batch(shape, layout.reg);
  return layout;
}

bool has_mma_metadata(const MmaTiling& tiling, int metadata_bits) {
  return tiling.sparse && metadata_bits <= row_bits(tiling);
}

LinearLayout mma_metadata(const Shape& shape, const MmaTiling& tiling, int metadata_bits) {
  TW_CHECK(has_mma_metadata(tiling, metadata_bits), "metadata in words that are too wide");
  Axis m(shape, 0, tiling.interleaved_m), k(shape, 1);
  LinearLayout layout;
  layout.shape = shape;
  for (int bits = metadata_bits; bits < row_bits(tiling); bits *= 2) layout.reg.push_back(k.take());
  const uint32_t rows[] = {m.take(), m.take(), m.take()}, half = m.take();
  // Four lanes have a row: of bytes two for each half of the rows, of wider ones for both.
  if (tiling.element_bits == 8) {
    layout.lane = {half, k.take()};
  } else {
    layout.reg.push_back(half);
    layout.lane = {k.take()};
    layout.lane.push_back(k.take());
  }
  layout.lane.insert(layout.lane.end(), std::begin(rows), std::end(rows));
  layout.warp = warp_bases(m, log2_of(tiling.warps_m));
  layout.warp.resize(layout.warp.size() + static_cast<size_t>(log2_of(tiling.warps_n)), 0);
  take_all(k, layout.reg);
  take_all(m, layout.reg);
  return layout;
}

MetadataPlace metadata_place(const MmaTiling& tiling, int k_tiles, int m_tile, int k_tile) {
  if (tiling.element_bits == 8) return {m_tile * k_tiles + k_tile, 0};
  return {m_tile * std::max(1, k_tiles / 2) + k_tile / 2, k_tile % 2};
}
int metadata_words(const MmaTiling& tiling, int k_tiles, int m_tiles) {
  return metadata_place(tiling, k_tiles, m_tiles - 1, k_tiles - 1).word + 1;
}

namespace {
int scales_in_word(bool of_a) {
  return of_a ? 8 : 16;  // of the lanes of a row together
}
}  // namespace

LinearLayout mma_scales(const Shape& shape, const MmaTiling& tiling, bool of_a) {
  Axis rows(shape, 0, of_a ? tiling.interleaved_m : tiling.interleaved_n), k(shape, 1);
  LinearLayout layout;
  layout.shape = shape;
  for (int i = 0; i < 2; ++i) layout.reg.push_back(k.take());
  const uint32_t low[] = {rows.take(), rows.take(), rows.take()};
  layout.lane = {of_a ? rows.take() : k.take()};
  layout.lane.push_back(k.take());
  layout.lane.insert(layout.lane.end(), std::begin(low), std::end(low));
  const int before = of_a ? 0 : log2_of(tiling.warps_m);
  layout.warp.assign(static_cast<size_t>(before), 0);
  for (uint32_t basis : warp_bases(rows, log2_of(of_a ? tiling.warps_m : tiling.warps_n)))
    layout.warp.push_back(basis);
  if (of_a)
    layout.warp.resize(layout.warp.size() + static_cast<size_t>(log2_of(tiling.warps_n)), 0);
  take_all(k, layout.reg);
  take_all(rows, layout.reg);
  return layout;
}

ScalePlace scale_place(bool of_a, int count, int k_tile) {
  const int at = k_tile * count, in_word = at % scales_in_word(of_a);
  return {at / scales_in_word(of_a), in_word % 4, in_word / 4};
}
int scale_words(bool of_a, int runs) {
  return std::max(1, runs / scales_in_word(of_a));
}

int a_fragment(const MmaTiling& tiling) {
  return tiling.instruction.m * a_columns(tiling) / 32;
}
int b_fragment(const MmaTiling& tiling) {
  return tiling.instruction.n * tiling.instruction.k / 32;
}
int accumulator_fragment(const MmaTiling& tiling) {
  return tiling.instruction.m * tiling.instruction.n / 32;
}

MmaCounts mma_counts(const Shape& a, const Shape& b, const MmaTiling& tiling) {
  auto per_warp = [](int64_t extent, int instruction, int warps) {
    return static_cast<int>(std::max<int64_t>(1, extent / (int64_t{instruction} * warps)));
  };
  size_t rank = a.size();
  MmaCounts counts;
  counts.batch = rank == 3 ? static_cast<int>(a[0]) : 1;
  counts.m = per_warp(a[rank - 2], tiling.instruction.m, tiling.warps_m);
  counts.n = per_warp(b[rank - 1], tiling.instruction.n, tiling.warps_n);
  counts.k = per_warp(a[rank - 1], a_columns(tiling), 1);
  return counts;
}

}  // namespace tilewright::layout
