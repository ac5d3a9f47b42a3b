// Distributed register layouts as linear maps over F2 (after "Linear Layouts: Robust Code
// Generation of Efficient Tensor Computation Using F2", arXiv:2505.23819).
//
// A tile of power-of-two shape has N = 2^n elements, named by their row-major flat index (n bits;
// the last dimension has the low bits). A layout says which element each (register, lane, warp)
// holds:
//
//   element(r, l, w) = XOR of reg[i] for bits i set in r, lane[i] for bits in l, warp[i] for bits
//   in w
//
// so a layout is three lists of basis vectors, each an n-bit mask of the flat index. A zero basis
// vector means replication: both values of that bit hold the same element. Every element must be
// held by someone (the bases span all n bits). Because the index is row-major, `reshape` keeps the
// bases. Scalars have an empty shape, no registers bits (one register) and zero bases.
//
// Conversions between layouts are planned in conversion.h, tensor-core fragments in mma.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tilewright::layout {

using Shape = std::vector<int64_t>;

inline constexpr int kLaneBits = 5;

struct LinearLayout {
  Shape shape;
  std::vector<uint32_t> reg, lane, warp;  // lane always has 5 entries

  int registers() const { return 1 << reg.size(); }
  int warps() const { return 1 << warp.size(); }
  uint32_t element(uint32_t r, uint32_t l, uint32_t w) const;
  friend bool operator==(const LinearLayout&, const LinearLayout&) = default;
};

// Number of elements of a shape, and of bits of its flat index. Extents are powers of two.
int64_t element_count(const Shape& shape);
int index_bits(const Shape& shape);
// Position of the lowest bit of dimension `axis` in the flat index, and the mask of its bits.
int axis_shift(const Shape& shape, int axis);
uint32_t axis_mask(const Shape& shape, int axis);

// True if the bases span the tile (every element is held).
bool covers(const LinearLayout& layout);
// "reg=[1,2] lane=[4,8,16,32,64] warp=[128,256] shape=[512]": stable, for tests and dumps.
std::string to_string(const LinearLayout& layout);

// Bits of register, lane and warp numbers that hold only copies. Among all holders of an element
// exactly one has all of these bits clear, so a store with a side effect is done where
//   (register & reg) == 0 && (lane & lane) == 0 && (warp & warp) == 0.
struct ReplicationMask {
  uint32_t reg = 0, lane = 0, warp = 0;
  friend bool operator==(const ReplicationMask&, const ReplicationMask&) = default;
};
ReplicationMask replication_mask(const LinearLayout& layout);

// One register in every thread of every warp: the layout of scalars, and of tiles of one element.
LinearLayout replicated(const Shape& shape, int warps);

// Coalesced blocked layout: `vector` consecutive elements along the dimension order[0] in
// registers, then lanes, then warps, fastest dimension first; what is left over goes to further
// registers, what is too small is replicated (zero bases of lanes and warps, never of registers).
// `order` lists all dimensions, fastest varying first.
LinearLayout blocked(const Shape& shape, int warps, const std::vector<int>& order, int vector);

// ---- how shape ops move layouts: the layout of the result, from that of the operand ----
// For expand_dims, permute and reshape register r of the result is register r of the operand.
LinearLayout expand_dims(const LinearLayout& layout, int axis);
LinearLayout permute(const LinearLayout& layout, const std::vector<int>& order);
LinearLayout reshape(const LinearLayout& layout, const Shape& shape);
// The inverse of expand_dims: removes a dimension of extent 1.
LinearLayout squeeze(const LinearLayout& layout, int axis);
// The inverse of permute: permute(unpermute(l, order), order) == l.
LinearLayout unpermute(const LinearLayout& layout, const std::vector<int>& order);
// Removes a dimension by projecting its bits away (result of a reduction along it); registers that
// become replicated are dropped, lanes and warps stay as zero bases.
LinearLayout drop_dim(const LinearLayout& layout, int axis);
// The operand layout from which `broadcast` to `layout.shape` needs only register renaming: bits of
// the stretched dimensions become zero, registers that become replicated are dropped.
LinearLayout broadcast_source(const LinearLayout& layout, const Shape& from);
// For each register of `layout` (the result of a broadcast) the register of
// broadcast_source(layout, from) that holds its value.
std::vector<int> broadcast_registers(const LinearLayout& layout, const Shape& from);
// join: a new last dimension of 2 in the lowest register bit: register 2r holds a's register r,
// 2r+1 holds b's. split is the way back: its operand is converted to join(result's layout).
LinearLayout join(const LinearLayout& layout);
// cat along axis: the new half is the highest register bit: register r holds a's, r + registers of
// the operand hold b's.
LinearLayout cat(const LinearLayout& layout, int axis);
// The operand's layout from that of a join or cat.
LinearLayout unjoin(const LinearLayout& joined);
LinearLayout uncat(const LinearLayout& both, int axis);

// How a reduction along `axis` folds, given the operand's layout. The result has layout
// drop_dim(operand, axis).
struct ReductionPlan {
  // For each result register the operand registers that hold distinct elements to fold in a thread.
  std::vector<std::vector<int>> registers;
  // Lane bits along the axis: after folding registers, combine with lane ^ (1 << bit) for each.
  std::vector<int> lane_bits;
  // Warp bits along the axis: then combine across warps that differ in these bits (shared memory).
  std::vector<int> warp_bits;
};
// Every basis lies either inside the axis or outside (true for all layouts made here); one that
// mixes both is an internal error.
ReductionPlan plan_reduction(const LinearLayout& layout, int axis);

// A stretch of the bits of a dimension's index, from low to high, that registers, lanes or warps
// hold: bit i of it is bit bits[i] of the register (lane, warp) number, ascending.
struct AxisGroup {
  enum class Holder : uint8_t { kRegister, kLane, kWarp } holder;
  std::vector<int> bits;
};
// The index along `axis` taken apart, lowest bits first; nullopt where one of its bits is mixed
// with others or held by several.
std::optional<std::vector<AxisGroup>> axis_groups(const LinearLayout& layout, int axis);
// The layout itself if it has axis_groups, else a blocked one that does.
LinearLayout scan_layout(const LinearLayout& layout, int axis);

}  // namespace tilewright::layout
