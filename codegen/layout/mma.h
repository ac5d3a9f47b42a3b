// Register layouts of tensor-core fragments (PTX ISA, "Matrix Fragments for mma.m16n8k*" and
// m8n8k16), extended over whole tiles and warps.
//
// With g = lane / 4, t = lane % 4 and p = 32 / element bits values in a 32-bit register (1 for
// 64-bit): A holds rows g (and g + 8 when m is 16), columns p*t + 0…p-1 (and 4p, 8p, … more up to
// k); B holds rows p*t + 0…p-1 (and 4p, … more), column g; the accumulator holds rows g (and g +
// 8), columns 2t, 2t + 1.
//
// Registers over a whole tile, low bits first:
//   A            [fragment][k tile][m tile][batch]     fragment: p, row half (m == 16), k parts
//   B            [fragment][k tile][n tile][batch]     fragment: p, k parts
//   accumulator  [fragment][n tile][m tile][batch]     fragment: 2 columns, row half
// so the fragment of A for instruction (mi, ki) starts at register
//   ((batch * m_tiles + mi) * k_tiles + ki) * a_fragment, with the values of one 32-bit register in
// consecutive registers, in PTX order; B and the accumulator alike. Where a dimension is
// interleaved, its index bits 1, 2, 3 take the part of bits 0, 1, 2 and bit 0 that of bit 3.
// m_tiles is the number of instructions one warp runs along M. A warp owns consecutive rows and
// columns; low warp bits go along M. Where the tile is too small for that many warps they are
// replicated.
#pragma once

#include "codegen/layout/linear_layout.h"

namespace tilewright::layout {

struct MmaShape {
  int m = 16, n = 8, k = 16;
  friend bool operator==(const MmaShape&, const MmaShape&) = default;
};

// Warp arrangement over the M and N of a tile; warps_m * warps_n = number of warps (a batch
// dimension in front is kept in registers).
struct MmaTiling {
  MmaShape instruction;
  int warps_m = 1, warps_n = 1;
  int element_bits = 16;  // of the operands
  // Rows or columns that a lane's fragments of two neighbouring tiles (for M: of the two halves of
  // a tile) come from are 2i and 2i+1 instead of i and i+8: what ldmatrix.trans gives for 8-bit
  // operands whose memory is not contiguous along K.
  bool interleaved_m = false, interleaved_n = false;
  // A holds half of the instruction's columns; metadata says which ("Sparse matrix storage").
  bool sparse = false;
  friend bool operator==(const MmaTiling&, const MmaTiling&) = default;
};

// Accumulator layout of an [.., M, N] tile, and operand layouts of [.., M, K] and [.., K, N]. Where
// M or N is smaller than the instruction's, lanes and registers hold copies, of A or B and so of
// the result. A smaller K is an internal error: the copies would be summed.
LinearLayout mma_accumulator(const Shape& shape, const MmaTiling& tiling);
LinearLayout mma_operand_a(const Shape& shape, const MmaTiling& tiling);
LinearLayout mma_operand_b(const Shape& shape, const MmaTiling& tiling);

// A sparse A's metadata, [M, words of `metadata_bits` along K]. A 32-bit register holds, for
// operands of 8 bits, 32 bits of one row; for wider ones 16 bits of row g in its low and of row g +
// 8 in its high half. The registers of a tile are [values of a word][k parts][m tile]; which
// instruction's columns they belong to, see metadata_place. Words wider than what a row has in a
// register have no such layout (has_mma_metadata).
bool has_mma_metadata(const MmaTiling& tiling, int metadata_bits);
LinearLayout mma_metadata(const Shape& shape, const MmaTiling& tiling, int metadata_bits);
// Of the instruction at (m tile, k tile): the register (by number) and the selector.
struct MetadataPlace {
  int word = 0, selector = 0;
};
MetadataPlace metadata_place(const MmaTiling& tiling, int k_tiles, int m_tile, int k_tile);
int metadata_words(const MmaTiling& tiling, int k_tiles, int m_tiles);

// Scales of a block-scaled product, a byte for each run along K: [M, runs] for A, [N, runs] for B.
// A 32-bit register of a lane holds four of one row; two neighbouring lanes hold more of K for A
// (rows g and g + 8 lie in different lanes), four for B. The registers of a tile are [bytes][k
// parts][tile].
LinearLayout mma_scales(const Shape& shape, const MmaTiling& tiling, bool of_a);
// Of an instruction that reads `count` scales of each row: the register of a tile along M or N, and
// the byte and lane that the first of them is in.
struct ScalePlace {
  int word = 0, byte = 0, thread = 0;
};
ScalePlace scale_place(bool of_a, int count, int k_tile);
int scale_words(bool of_a, int runs);  // of one tile along M or N

// Values a thread holds of one instruction's A, B and accumulator.
int a_fragment(const MmaTiling& tiling);
int b_fragment(const MmaTiling& tiling);
int accumulator_fragment(const MmaTiling& tiling);

// Instructions one warp runs along each dimension for tiles of these extents.
struct MmaCounts {
  int batch = 1, m = 1, n = 1, k = 1;
};
MmaCounts mma_counts(const Shape& a, const Shape& b, const MmaTiling& tiling);

}  // namespace tilewright::layout
