// What must hold of every layout assignment, checked op by op.
#pragma once

#include <gtest/gtest.h>

#include "codegen/cuda/assign_layouts.h"

namespace tilewright::cuda {

class AssignmentChecker {
 public:
  AssignmentChecker(const ir::Module& module, const LayoutAssignment& assignment,
                    const Target& target)
      : module_(module), assignment_(assignment), target_(target) {}

  // Every value covered, every op's rule kept, vectors and dots legal. Counts conversions.
  void run() {
    Status status = ir::verify(module_);
    ASSERT_TRUE(status.ok()) << status.error().text();
    region(module_.body, 0);
  }

  // Also that no matrix tile takes many more registers than its share (shape ops in odd sequences
  // may well leave most threads with copies).
  bool bound_registers = true;
  int conversions = 0, conversions_in_loops = 0;  // that are more than renaming

 private:
  using LinearLayout = layout::LinearLayout;

  void region(ir::RegionId id, int depth) {
    for (ir::ValueId arg : module_.region(id).args) value(arg);
    for (ir::OpId op : module_.region(id).ops) {
      check_op(op, depth);
      ir::Op kind = module_.op(op).op;
      bool loop = kind == ir::Op::For || kind == ir::Op::While;
      for (ir::RegionId nested : module_.op(op).regions) region(nested, depth + loop);
    }
  }

  const LinearLayout& of(ir::ValueId id) const { return assignment_.values.at(id.index); }

  void well_formed(const LinearLayout& layout, const ir::Shape& shape) {
    EXPECT_EQ(layout.shape, shape);
    EXPECT_EQ(layout.lane.size(), 5u);
    EXPECT_EQ(layout.warps(), assignment_.warps);
    EXPECT_TRUE(layout::covers(layout)) << layout::to_string(layout);
    EXPECT_EQ(layout::replication_mask(layout).reg, 0u) << layout::to_string(layout);
  }

  void value(ir::ValueId id) {
    const ir::Type& type = module_.type(id);
    if (type.is_shared) return;
    well_formed(of(id), type.shape);
    int wide = 0;
    for (int64_t extent : type.shape) wide += extent > 1;
    // Operands of dots are repeated in the warps that share them.
    int64_t share = std::max<int64_t>(1, type.element_count() / (32 * assignment_.warps));
    if (bound_registers && wide > 1) {
      EXPECT_LE(of(id).registers(), 4 * share * assignment_.warps) << ir::print(module_);
    }
  }

  void check_op(ir::OpId id, int depth) {
    const ir::OpNode& op = module_.op(id);
    SCOPED_TRACE(std::string(ir::op_info(op.op).mnemonic));
    for (ir::ValueId result : op.results) value(result);
    for (size_t i = 0; i < op.operands.size(); ++i) {
      if (!module_.type(op.operands[i]).is_tile()) continue;
      LinearLayout needed = required_layout(module_, assignment_, id, static_cast<int>(i));
      well_formed(needed, module_.type(op.operands[i]).shape);
      auto plan = layout::plan_conversion(of(op.operands[i]), needed,
                                          module_.type(op.operands[i]).element_bytes());
      bool moves = plan.kind == layout::Conversion::Kind::kShuffles ||
                   plan.kind == layout::Conversion::Kind::kShared;
      conversions += moves;
      conversions_in_loops += moves && depth > 0;
    }
    if (!op.operands.empty() && module_.type(op.operands[0]).is_tile()) check_result(id);
    if (auto vector = assignment_.vectors.find(id); vector != assignment_.vectors.end())
      check_vector(id, vector->second);
    if (op.op == ir::Op::Dot) check_dot(id);
  }

  void check_result(ir::OpId id) {
    const ir::OpNode& op = module_.op(id);
    LinearLayout needed = required_layout(module_, assignment_, id, 0);
    if (auto follows = followed_layout(module_, op, needed))
      for (ir::ValueId result : op.results) {
        if (module_.type(result).is_tile()) {
          EXPECT_EQ(of(result), *follows);
        }
      }
    if (op.op == ir::Op::Broadcast) {
      EXPECT_EQ(needed, layout::broadcast_source(of(op.results[0]), needed.shape));
    }
    if (assignment_.memory.contains(id) && !op.results.empty()) {
      EXPECT_EQ(of(op.results[0]), assignment_.memory.at(id));
    }
  }

  // Each group of registers holds consecutive elements along one dimension.
  void check_vector(ir::OpId id, int vector) {
    const LinearLayout& layout = assignment_.memory.at(id);
    const ir::Type& pointer = module_.type(module_.op(id).operands[0]);
    EXPECT_LE(vector * dtype_bytes(pointer.dtype), 16);
    if (vector == 1) return;
    std::set<uint32_t> strides;
    for (int w = 0; w < layout.warps(); ++w)
      for (int lane = 0; lane < 32; ++lane)
        for (int r = 0; r < layout.registers(); r += vector) {
          uint32_t first = layout.element(r, lane, w);
          strides.insert(layout.element(r + 1, lane, w) - first);
          for (int v = 0; v < vector; ++v)
            EXPECT_EQ(layout.element(r + v, lane, w), first + v * *strides.begin());
        }
    EXPECT_EQ(strides.size(), 1u);
  }

  void check_dot(ir::OpId id) {
    const ir::OpNode& op = module_.op(id);
    const DotPlan& plan = assignment_.dots.at(id);
    EXPECT_EQ(of(op.results[0]), plan.accumulator);
    if (plan.kind == DotPlan::Kind::kFma) return;
    EXPECT_EQ(plan.tiling.warps_m * plan.tiling.warps_n, assignment_.warps);
    const auto& i = plan.tiling.instruction;
    int sm = target_.sm, shape = i.m * 10000 + i.n * 100 + i.k;
    const Unit& unit = plan.unit;
    EXPECT_TRUE(unit.products == 1 || !unit.split_a.empty());
    EXPECT_EQ(unit.sum, module_.type(op.results[0]).dtype);
    if (unit.sparse) {
      EXPECT_GE(sm, 80);
      EXPECT_EQ(i.k, 512 / dtype_bits(unit.a));
      return;
    }
    switch (unit.a) {
      case Dtype::kF16:
        EXPECT_EQ(shape, sm >= 80 ? 160816 : 160808);
        break;
      case Dtype::kBF16:
        EXPECT_GE(sm, 80);
        EXPECT_EQ(shape, 160816);
        break;
      case Dtype::kF32:
        EXPECT_GE(sm, 80);
        EXPECT_EQ(shape, 160808);
        break;
      case Dtype::kF64:
        EXPECT_GE(sm, 80);
        EXPECT_TRUE(shape == 80804 || (sm == 90 && (shape == 160808 || shape == 160816)));
        break;
      case Dtype::kI8:
      case Dtype::kU8:
        EXPECT_TRUE(sm >= 80 ? shape == 160832 || shape == 160816 : shape == 80816);
        break;
      default:
        EXPECT_TRUE(is_fp8(unit.a) && is_fp8(unit.b));
        EXPECT_EQ(unit.products == 2, (sm != 89 && sm != 120) || i.k < 32);
        EXPECT_EQ(shape, sm >= 80 ? 160832 : 160816);
    }
  }

  const ir::Module& module_;
  const LayoutAssignment& assignment_;
  const Target& target_;
};

}  // namespace tilewright::cuda
