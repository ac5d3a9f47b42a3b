// Fragment layouts against the formulas of the PTX ISA ("Matrix Fragments for mma…"), written down
// here from the manual, not from the code.
#include "codegen/layout/mma.h"

#include <gtest/gtest.h>

#include <functional>

#include "dsl/base/check.h"

namespace tilewright::layout {
namespace {

struct At {
  int row, column;
};
using Formula = std::function<At(int lane, int i)>;

void expect_fragment(const LinearLayout& layout, int columns, int count, const Formula& formula) {
  ASSERT_EQ(layout.registers(), count);
  for (int lane = 0; lane < 32; ++lane)
    for (int i = 0; i < count; ++i) {
      At at = formula(lane, i);
      EXPECT_EQ(layout.element(i, lane, 0), uint32_t(at.row * columns + at.column))
          << "lane " << lane << " value " << i;
    }
}

At accumulator16(int lane, int i) {  // m16n8: c0 c1 c2 c3
  int group = lane >> 2, in_group = lane % 4;
  return {i < 2 ? group : group + 8, in_group * 2 + (i & 1)};
}

TEST(Mma, M16N8K16HalfPrecision) {
  MmaTiling t{{16, 8, 16}, 1, 1, 16};
  expect_fragment(mma_operand_a({16, 16}, t), 16, 8, [](int lane, int i) {
    int group = lane >> 2, in_group = lane % 4;
    int row = (i < 2 || (i >= 4 && i < 6)) ? group : group + 8;
    int column = in_group * 2 + (i & 1) + (i < 4 ? 0 : 8);
    return At{row, column};
  });
  expect_fragment(mma_operand_b({16, 8}, t), 8, 4, [](int lane, int i) {
    int group = lane >> 2, in_group = lane % 4;
    return At{in_group * 2 + (i & 1) + (i < 2 ? 0 : 8), group};
  });
  expect_fragment(mma_accumulator({16, 8}, t), 8, 4, accumulator16);
  EXPECT_EQ(a_fragment(t), 8);
  EXPECT_EQ(b_fragment(t), 4);
  EXPECT_EQ(accumulator_fragment(t), 4);
}

TEST(Mma, M16N8K8HalfPrecision) {
  MmaTiling t{{16, 8, 8}, 1, 1, 16};
  expect_fragment(mma_operand_a({16, 8}, t), 8, 4, [](int lane, int i) {
    return At{i < 2 ? lane >> 2 : (lane >> 2) + 8, (lane % 4) * 2 + (i & 1)};
  });
  expect_fragment(mma_operand_b({8, 8}, t), 8, 2, [](int lane, int i) {
    return At{(lane % 4) * 2 + i, lane >> 2};
  });
  expect_fragment(mma_accumulator({16, 8}, t), 8, 4, accumulator16);
}

TEST(Mma, M16N8K8Tf32) {
  MmaTiling t{{16, 8, 8}, 1, 1, 32};
  expect_fragment(mma_operand_a({16, 8}, t), 8, 4, [](int lane, int i) {
    int group = lane >> 2, in_group = lane % 4;
    return At{i == 0 || i == 2 ? group : group + 8, i < 2 ? in_group : in_group + 4};
  });
  expect_fragment(mma_operand_b({8, 8}, t), 8, 2, [](int lane, int i) {
    return At{i == 0 ? lane % 4 : lane % 4 + 4, lane >> 2};
  });
  expect_fragment(mma_accumulator({16, 8}, t), 8, 4, accumulator16);
}

TEST(Mma, M16N8K32Bytes) {
  MmaTiling t{{16, 8, 32}, 1, 1, 8};
  expect_fragment(mma_operand_a({16, 32}, t), 32, 16, [](int lane, int i) {
    int group = lane >> 2, in_group = lane % 4;
    int row = (i < 4 || (i >= 8 && i < 12)) ? group : group + 8;
    return At{row, in_group * 4 + (i & 3) + (i < 8 ? 0 : 16)};
  });
  expect_fragment(mma_operand_b({32, 8}, t), 8, 8, [](int lane, int i) {
    return At{(lane % 4) * 4 + (i & 3) + (i < 4 ? 0 : 16), lane >> 2};
  });
  expect_fragment(mma_accumulator({16, 8}, t), 8, 4, accumulator16);
}

TEST(Mma, M16N8K16Bytes) {
  MmaTiling t{{16, 8, 16}, 1, 1, 8};
  expect_fragment(mma_operand_a({16, 16}, t), 16, 8, [](int lane, int i) {
    return At{i < 4 ? lane >> 2 : (lane >> 2) + 8, (lane % 4) * 4 + (i & 3)};
  });
  expect_fragment(mma_operand_b({16, 8}, t), 8, 4, [](int lane, int i) {
    return At{(lane % 4) * 4 + i, lane >> 2};
  });
}

TEST(Mma, M8N8K16Bytes) {
  MmaTiling t{{8, 8, 16}, 1, 1, 8};
  expect_fragment(mma_operand_a({8, 16}, t), 16, 4, [](int lane, int i) {
    return At{lane >> 2, (lane % 4) * 4 + i};
  });
  expect_fragment(mma_operand_b({16, 8}, t), 8, 4, [](int lane, int i) {
    return At{(lane % 4) * 4 + i, lane >> 2};
  });
  expect_fragment(mma_accumulator({8, 8}, t), 8, 2, [](int lane, int i) {
    return At{lane >> 2, (lane % 4) * 2 + i};
  });
}

// Over a whole tile, instruction (mi, ni, ki) finds its fragments where mma.h says.
TEST(Mma, TileRegistersAreInDocumentedOrder) {
  MmaTiling t{{16, 8, 16}, 2, 2, 16};
  Shape a_shape = {2, 64, 32}, b_shape = {2, 32, 64}, c_shape = {2, 64, 64};
  LinearLayout a = mma_operand_a(a_shape, t), b = mma_operand_b(b_shape, t),
               c = mma_accumulator(c_shape, t);
  MmaCounts counts = mma_counts(a_shape, b_shape, t);
  EXPECT_EQ(counts.batch, 2);
  EXPECT_EQ(counts.m, 2);
  EXPECT_EQ(counts.n, 4);
  EXPECT_EQ(counts.k, 2);
  for (int w = 0; w < 4; ++w) {
    int warp_m = w % 2, warp_n = w / 2;
    for (int batch = 0; batch < 2; ++batch)
      for (int mi = 0; mi < 2; ++mi)
        for (int ki = 0; ki < 2; ++ki)
          EXPECT_EQ(a.element(((batch * 2 + mi) * 2 + ki) * 8, 0, w),
                    uint32_t((batch * 64 + warp_m * 32 + mi * 16) * 32 + ki * 16));
    for (int batch = 0; batch < 2; ++batch)
      for (int ni = 0; ni < 4; ++ni)
        for (int ki = 0; ki < 2; ++ki)
          EXPECT_EQ(b.element(((batch * 4 + ni) * 2 + ki) * 4, 0, w),
                    uint32_t((batch * 32 + ki * 16) * 64 + warp_n * 32 + ni * 8));
    for (int batch = 0; batch < 2; ++batch)
      for (int mi = 0; mi < 2; ++mi)
        for (int ni = 0; ni < 4; ++ni)
          EXPECT_EQ(c.element(((batch * 2 + mi) * 4 + ni) * 4, 0, w),
                    uint32_t((batch * 64 + warp_m * 32 + mi * 16) * 64 + warp_n * 32 + ni * 8));
  }
}

// "Sparse matrix storage": who holds the 4 bits of which chunk of 4 (TF32: 2) columns.
TEST(Mma, MetadataOfSparseOperands) {
  struct Case {
    MmaShape shape;
    int element_bits, metadata_bits, row_bits;  // bits of a row that one instruction reads
  };
  for (const Case& c :
       {Case{{16, 8, 32}, 16, 16, 32}, Case{{16, 8, 32}, 16, 8, 32}, Case{{16, 8, 16}, 32, 16, 32},
        Case{{16, 8, 64}, 8, 32, 64}, Case{{16, 8, 64}, 8, 16, 64}, Case{{16, 8, 64}, 8, 8, 64}}) {
    MmaTiling t{.instruction = c.shape, .element_bits = c.element_bits, .sparse = true};
    const int k_tiles = 4, m_tiles = 2, columns = k_tiles * c.row_bits / c.metadata_bits;
    LinearLayout layout = mma_metadata({16 * m_tiles, columns}, t, c.metadata_bits);
    EXPECT_TRUE(covers(layout));
    const int each = 32 / c.metadata_bits, words = metadata_words(t, k_tiles, m_tiles);
    ASSERT_EQ(layout.registers(), each * words);
    for (int mi = 0; mi < m_tiles; ++mi)
      for (int ki = 0; ki < k_tiles; ++ki)
        for (int row = 0; row < 16; ++row)
          for (int bit = 0; bit < c.row_bits; bit += 4) {
            MetadataPlace place = metadata_place(t, k_tiles, mi, ki);
            const bool bytes = c.element_bits == 8;
            int thread = bytes ? bit / 32 * 2 + row / 8 : bit / 16;
            int at = bytes ? bit % 32 : row / 8 * 16 + bit % 16;
            int lane = row % 8 * 4 + place.selector * 2 + thread;
            uint32_t found = layout.element(place.word * each + at / c.metadata_bits, lane, 0);
            EXPECT_EQ(found, uint32_t((mi * 16 + row) * columns +
                                      (ki * c.row_bits + bit) / c.metadata_bits));
          }
  }
  MmaTiling wide{.instruction = {16, 8, 32}, .sparse = true};
  EXPECT_FALSE(has_mma_metadata(wide, 32));
  EXPECT_EQ(a_fragment(wide), 8);
  EXPECT_EQ(mma_counts({64, 32}, {64, 64}, wide).k, 2);
  wide.interleaved_m = true;  // both halves of a word are neighbours along M
  LinearLayout layout = mma_metadata({16, 2}, wide, 16);
  EXPECT_EQ(layout.element(1, 0, 0), 2u);
  EXPECT_EQ(layout.element(0, 4, 0), 4u);
}

// "Block scaling": lanes of rows g and g + 8 (A) or of column g (B) hold the scales of four runs
// each.
TEST(Mma, ScalesOfBlocks) {
  MmaTiling t{.instruction = {16, 8, 32}, .element_bits = 8};
  for (bool of_a : {true, false})
    for (int count : {1, 2, 4})
      for (int k_tiles : {1, 2, 4, 16}) {
        const int rows = of_a ? 16 : 8, tiles = 2, runs = count * k_tiles;
        LinearLayout layout = mma_scales({rows * tiles, runs}, t, of_a);
        EXPECT_TRUE(covers(layout));
        const int words = scale_words(of_a, runs);
        ASSERT_EQ(layout.registers(), 4 * words * tiles);
        for (int tile = 0; tile < tiles; ++tile)
          for (int ki = 0; ki < k_tiles; ++ki)
            for (int row = 0; row < rows; ++row)
              for (int run = 0; run < count; ++run) {
                ScalePlace place = scale_place(of_a, count, ki);
                EXPECT_LT(place.thread, of_a ? 2 : 4);
                int lane = row % 8 * 4 + (of_a ? place.thread * 2 + row / 8 : place.thread);
                int r = (tile * words + place.word) * 4 + place.byte + run;
                EXPECT_EQ(layout.element(r, lane, 0),
                          uint32_t((tile * rows + row) * runs + ki * count + run));
              }
      }
}

TEST(Mma, SurplusWarpsHoldCopies) {
  MmaTiling t{{16, 8, 16}, 4, 2, 16};
  LinearLayout c = mma_accumulator({16, 8}, t);
  EXPECT_TRUE(covers(c));
  EXPECT_EQ(replication_mask(c).warp, 7u);
}

TEST(Mma, SmallTilesAreHeldSeveralTimes) {
  MmaTiling t{{16, 8, 16}, 1, 1, 16};
  LinearLayout c = mma_accumulator({8, 2}, t), a = mma_operand_a({8, 16}, t),
               b = mma_operand_b({16, 2}, t);
  for (int lane = 0; lane < 32; ++lane) {
    for (int i = 0; i < 4; ++i)  // rows 8 to 15 repeat 0 to 7, columns 2 to 7 repeat 0 and 1
      EXPECT_EQ(c.element(i, lane, 0), uint32_t(lane / 4 * 2 + i % 2));
    for (int i = 0; i < 8; ++i)
      EXPECT_EQ(a.element(i, lane, 0), uint32_t(lane / 4 * 16 + lane % 4 * 2 + i % 2 + i / 4 * 8));
    for (int i = 0; i < 4; ++i)
      EXPECT_EQ(b.element(i, lane, 0),
                uint32_t((lane % 4 * 2 + i % 2 + i / 2 * 8) * 2 + lane / 4 % 2));
  }
  EXPECT_THROW(mma_operand_a({16, 8}, t), InternalError);
}

}  // namespace
}  // namespace tilewright::layout
