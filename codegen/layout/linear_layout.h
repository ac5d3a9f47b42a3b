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
// bases.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tilewright::layout {

using Shape = std::vector<int64_t>;

struct LinearLayout {
  Shape shape;
  std::vector<uint32_t> reg, lane, warp;  // lane always has 5 entries

  int registers() const { return 1 << reg.size(); }
  int warps() const { return 1 << warp.size(); }
  uint32_t element(uint32_t r, uint32_t l, uint32_t w) const;
  friend bool operator==(const LinearLayout&, const LinearLayout&) = default;
};

// True if the bases span the tile (every element is held).
bool covers(const LinearLayout& layout);
// "reg=[1,2] lane=[4,8,16,32,64] warp=[128,256] shape=[512]": stable, for tests and dumps.
std::string to_string(const LinearLayout& layout);

// Coalesced blocked layout: `vector` consecutive elements along the dimension order[0] in
// registers, then lanes, then warps, fastest dimension first; what is left over goes to further
// registers, what is too small is replicated (zero bases; lanes and warps before registers).
LinearLayout blocked(const Shape& shape, int warps, const std::vector<int>& order, int vector);

// ---- how shape ops move layouts: the layout of the result, from that of the operand -----------
LinearLayout expand_dims(const LinearLayout& layout, int axis);
LinearLayout permute(const LinearLayout& layout, const std::vector<int>& order);
LinearLayout reshape(const LinearLayout& layout, const Shape& shape);
// Removes a dimension by projecting its bits away (result of a reduction along it); registers that
// become replicated are dropped, lanes and warps stay as zero bases.
LinearLayout drop_dim(const LinearLayout& layout, int axis);
// The operand layout from which `broadcast` to `layout.shape` needs only register renaming: bits of
// the stretched dimensions become zero, registers that become replicated are dropped.
LinearLayout broadcast_source(const LinearLayout& layout, const Shape& from);

// ---- conversions --------------------------------------------------------------------------------
// How values move from one layout of a tile to another.
struct Conversion {
  enum class Kind : uint8_t {
    kNone,       // equal up to nothing
    kRegisters,  // every thread has what it needs: to register i comes from register source[i]
    kShuffles,   // within warps: see shuffle_rounds
    kShared,     // through shared memory
  };
  Kind kind = Kind::kNone;
  std::vector<int> source;  // kRegisters

  // kShuffles: result register i is obtained by a warp shuffle: lane l reads from lane
  // (l's image under lane_map, XOR'd with lane_const[i]) the register selected by
  // registers[i][k] where k = number formed by select bits of the source lane (see planner).
  struct Shuffle {
    std::vector<uint32_t> lane_columns;  // source lane = XOR of columns for bits set in own lane …
    uint32_t lane_constant = 0;          // … XOR this constant
    std::vector<int> source_registers;   // candidates offered; which one is chosen by the *source*
    std::vector<uint32_t>
        select_masks;  // lane: bit j of its choice = parity(own source lane & mask j)
  };
  std::vector<Shuffle> shuffles;  // one for each result register

  // kShared: elements are stored at swizzle(flat index); vector widths in elements.
  struct Shared {
    int store_vector = 1, load_vector = 1;
    // Byte offset of element e = (sum over set bits i of e) XOR columns[i], times element bytes: a
    // linear bank-conflict-avoiding swizzle; columns has n entries.
    std::vector<uint32_t> columns;
    int64_t bytes = 0;
  };
  Shared shared;
};
Conversion plan_conversion(const LinearLayout& from, const LinearLayout& to, int element_bytes);

// ---- tensor-core fragments (PTX ISA, "Matrix Fragments for mma")
// ---------------------------------
struct MmaShape {
  int m = 16, n = 8, k = 16;
  friend bool operator==(const MmaShape&, const MmaShape&) = default;
};
// Warp arrangement over the M and N of a tile; warps[0]*warps[1] = number of warps (a batch
// dimension in front is kept in registers).
struct MmaTiling {
  MmaShape instruction;
  int warps_m = 1, warps_n = 1;
  int element_bits = 16;  // of the operands
};
// Accumulator layout of an [.., M, N] tile, and operand layouts of [.., M, K] and [.., K, N]. Tiles
// smaller than the instruction are not representable: pad first or use FMA.
LinearLayout mma_accumulator(const Shape& shape, const MmaTiling& tiling);
LinearLayout mma_operand_a(const Shape& shape, const MmaTiling& tiling);
LinearLayout mma_operand_b(const Shape& shape, const MmaTiling& tiling);

}  // namespace tilewright::layout
