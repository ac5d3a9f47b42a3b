// Text of an assignment, for tests and dumps: dots and memory ops, each value's layout, and what
// must be converted.
#include "codegen/cuda/assign_layouts.h"
#include "codegen/ir/listing.h"

namespace tilewright::cuda {
namespace {

using ir::Op;
using ir::OpId;
using layout::Conversion;

std::string list(const std::vector<uint32_t>& bases) {
  std::string text = "[";
  for (size_t i = 0; i < bases.size(); ++i) text += (i > 0 ? "," : "") + std::to_string(bases[i]);
  return text + "]";
}

std::string layout_text(const layout::LinearLayout& layout) {
  return "reg=" + list(layout.reg) + " lane=" + list(layout.lane) + " warp=" + list(layout.warp);
}

std::string dot_text(const DotPlan& plan) {
  if (plan.kind == DotPlan::Kind::kFma) return "fma";
  const auto& i = plan.tiling.instruction;
  std::string text = "mma " + plan.unit.function.substr(std::string_view("tw_mma_").size());
  if (plan.unit.products > 1) text += " x" + std::to_string(plan.unit.products);
  if (plan.unit.promote > 0) text += " promoted after k " + std::to_string(plan.unit.promote * i.k);
  return text + " warps " + std::to_string(plan.tiling.warps_m) + "x" +
         std::to_string(plan.tiling.warps_n);
}

std::string_view kind_text(Conversion::Kind kind) {
  switch (kind) {
    case Conversion::Kind::kNone:
    case Conversion::Kind::kRegisters:
      return "registers";
    case Conversion::Kind::kShuffles:
      return "shuffles";
    case Conversion::Kind::kShared:
      return "shared";
  }
  return "";
}

class Printer {
 public:
  Printer(const ir::Module& module, const LayoutAssignment& assignment)
      : module_(module), assignment_(assignment), listing_(ir::list(module)) {}

  std::string run() {
    region(module_.body, 0);
    return std::move(text_);
  }

 private:
  void line(int depth, const std::string& text) {
    text_ += std::string(2 * static_cast<size_t>(depth), ' ') + text + "\n";
  }

  void region(ir::RegionId id, int depth) {
    for (ir::ValueId arg : module_.region(id).args) value(arg, "", depth);
    for (OpId op : module_.region(id).ops) {
      conversions(op, depth);
      results(op, depth);
      if (ir::op_info(module_.op(op).op).has(ir::kCombines)) continue;
      for (ir::RegionId nested : module_.op(op).regions) {
        line(depth, std::string(ir::op_info(module_.op(op).op).mnemonic) + ":");
        region(nested, depth + 1);
      }
    }
  }

  void value(ir::ValueId id, const std::string& what, int depth) {
    if (!module_.type(id).is_tile()) return;
    line(depth, listing_.name(id) + ": " + ir::to_string(module_.type(id)) + " " + what +
                    layout_text(assignment_.values[id.index]));
  }

  void results(OpId id, int depth) {
    const ir::OpNode& op = module_.op(id);
    std::string what;
    if (auto dot = assignment_.dots.find(id); dot != assignment_.dots.end())
      what = dot_text(dot->second) + " ";
    if (auto vector = assignment_.vectors.find(id); vector != assignment_.vectors.end())
      what = std::string(ir::op_info(op.op).mnemonic) + " vector " +
             std::to_string(vector->second) + " ";
    if (op.op == Op::For || op.op == Op::While) return;  // the region's arguments say it already
    for (ir::ValueId result : op.results) value(result, what, depth);
    if (op.results.empty() && !what.empty())
      line(depth, what + layout_text(assignment_.memory.at(id)));
  }

  void conversions(OpId id, int depth) {
    const ir::OpNode& op = module_.op(id);
    for (size_t i = 0; i < op.operands.size(); ++i) {
      ir::ValueId operand = op.operands[i];
      if (!module_.type(operand).is_tile()) continue;
      auto from = assignment_.values[operand.index];
      auto to = required_layout(module_, assignment_, id, static_cast<int>(i));
      Conversion plan = layout::plan_conversion(from, to, module_.type(operand).element_bytes());
      if (plan.kind == Conversion::Kind::kNone) continue;
      line(depth, "convert " + listing_.name(operand) + " for " +
                      std::string(ir::op_info(op.op).mnemonic) + ": " +
                      std::string(kind_text(plan.kind)));
    }
  }

  const ir::Module& module_;
  const LayoutAssignment& assignment_;
  ir::Listing listing_;
  std::string text_;
};

}  // namespace

std::string to_string(const ir::Module& module, const LayoutAssignment& assignment) {
  return Printer(module, assignment).run();
}

}  // namespace tilewright::cuda
