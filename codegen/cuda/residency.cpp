#include "codegen/cuda/residency.h"

#include <algorithm>
#include <vector>

#include "codegen/cuda/assign_layouts.h"

namespace tilewright::cuda {
namespace {

using ir::Op;
using ir::OpId;
using ir::OpNode;
using ir::ValueId;

// Addresses, indices, and vectors on their way from or to memory.
constexpr int kOtherRegisters = 28;
// More threads than that need no more bytes in flight, and registers are worth more.
constexpr int kEnoughThreads = 1536;
constexpr int kMostRegisters = 255;
// Beside accumulators and operands of dots: addresses and fragments of B, and those of A a tile.
constexpr int kDotRegisters = 32, kTileRegisters = 8;

// A branch that only puts tiles into shared memory, which takes one vector after another.
bool only_stores(const ir::Module& module, const OpNode& op) {
  bool only = op.op == Op::If;
  for (ir::RegionId region : op.regions)
    for (OpId id : module.region(region).ops) {
      const OpNode& inner = module.op(id);
      bool scalar = ir::op_info(inner.op).has(ir::kPure) && inner.results.size() == 1 &&
                    !module.type(inner.results[0]).is_tile();
      only &= inner.op == Op::SharedStore || inner.op == Op::Yield || scalar;
    }
  return only;
}

// Ops that no thread gets past with part of a tile.
bool holds_whole_tiles(const ir::Module& module, const LayoutAssignment& assignment, OpId id) {
  const OpNode& op = module.op(id);
  switch (op.op) {
    case Op::Reduce: {
      // Within a thread, it takes one element of the result after another.
      layout::ReductionPlan plan = layout::plan_reduction(
          required_layout(module, assignment, id, 0), static_cast<int>(op.attrs.get_int("axis")));
      return !plan.lane_bits.empty() || !plan.warp_bits.empty();
    }
    case Op::Scan:
    case Op::Gather:
    case Op::Histogram:
    case Op::For:
    case Op::While:
    case Op::Barrier:
    case Op::AtomicCas:
      return true;
    case Op::If:
      return !only_stores(module, op);
    default:
      return false;
  }
}

class Pressure {
 public:
  Pressure(const ir::Module& module, const LayoutAssignment& assignment)
      : module_(module), assignment_(assignment), lives_(module.value_count()) {}

  int registers() {
    visit(module_.body, {});
    std::vector<int> change(static_cast<size_t>(time_) + 2);
    for (size_t v = 0; v < lives_.size(); ++v) {
      const Life& life = lives_[v];
      if (life.begin < 0 || life.end < 0 || stops_before(life.begin) == stops_before(life.end))
        continue;
      change[static_cast<size_t>(life.begin)] += life.weight;
      change[static_cast<size_t>(life.end)] -= life.weight;
    }
    int live = 0, most = 0;
    for (int c : change) most = std::max(most, live += c);
    return most;
  }

 private:
  struct Life {
    int begin = -1, end = -1, weight = 0;
    bool flexible = false;
  };

  int stops_before(int time) const {
    return static_cast<int>(std::ranges::lower_bound(stops_, time) - stops_.begin());
  }

  void begin(ValueId value, bool flexible) {
    const ir::Type& type = module_.type(value);
    Life& life = lives_[value.index];
    life.begin = time_;
    life.flexible = flexible;
    // Indices and masks are made again where they are needed.
    if (type.is_tile() && !flexible)
      life.weight = (assignment_.values[value.index].registers() * type.element_bytes() + 3) / 4;
  }

  void use(ValueId value, const std::vector<int>& loops) {
    Life& life = lives_[value.index];
    life.end = std::max(life.end, time_);
    // What a loop takes from outside lives as long as the loop does.
    for (int loop : loops)
      if (life.begin < loop_begins_[static_cast<size_t>(loop)])
        open_until_[static_cast<size_t>(loop)].push_back(value);
  }

  void visit(ir::RegionId region, std::vector<int> loops) {
    for (ValueId arg : module_.region(region).args) begin(arg, false);
    for (OpId id : module_.region(region).ops) visit_op(id, loops);
  }

  void visit_op(OpId id, std::vector<int> loops) {
    const OpNode& op = module_.op(id);
    bool flexible = is_flexible_op(module_, op);
    for (ValueId operand : op.operands) {
      flexible &= !module_.type(operand).is_tile() || lives_[operand.index].flexible;
      use(operand, loops);
    }
    ++time_;
    if (holds_whole_tiles(module_, assignment_, id)) stops_.push_back(time_++);
    if (!ir::op_info(op.op).has(ir::kCombines) && !op.regions.empty()) {
      if (op.op != Op::If) {
        loops.push_back(static_cast<int>(loop_begins_.size()));
        loop_begins_.push_back(time_);
        open_until_.emplace_back();
        for (ir::RegionId nested : op.regions)
          for (ValueId arg : module_.region(nested).args) open_until_.back().push_back(arg);
      }
      for (ir::RegionId nested : op.regions) visit(nested, loops);
      ++time_;
      if (!only_stores(module_, op)) stops_.push_back(time_++);
      if (op.op != Op::If)
        for (ValueId value : open_until_[static_cast<size_t>(loops.back())])
          lives_[value.index].end = std::max(lives_[value.index].end, time_);
    }
    for (ValueId result : op.results) begin(result, flexible);
  }

  const ir::Module& module_;
  const LayoutAssignment& assignment_;
  std::vector<Life> lives_;
  std::vector<int> loop_begins_;
  std::vector<std::vector<ValueId>> open_until_;  // by loop: values that live as long as it does
  std::vector<int> stops_;                        // times, ascending
  int time_ = 0;
};

int words(const ir::Module& module, ValueId value, int registers) {
  return registers * module.type(value).element_bytes() / 4;
}

// Registers of the accumulators of a loop's dots and of the operands they take from outside; 0 if
// the loop has fewer than two dots.
int dot_registers(const ir::Module& module, const LayoutAssignment& assignment, ir::RegionId body) {
  int count = 0, registers = kDotRegisters, tiles = 0;
  for (OpId id : module.region(body).ops) {
    const OpNode& op = module.op(id);
    auto plan = assignment.dots.find(id);
    if (plan == assignment.dots.end()) continue;
    if (plan->second.kind != DotPlan::Kind::kMma) return 0;
    ++count;
    registers += words(module, op.results[0], plan->second.accumulator.registers());
    tiles =
        std::max(tiles, layout::mma_counts(module.type(op.operands[0]).shape,
                                           module.type(op.operands[1]).shape, plan->second.tiling)
                            .m);
    for (size_t i : {0, 1}) {
      const OpNode* def = module.def(op.operands[i]);
      if (def != nullptr && def->parent != body && def->op != Op::Const)
        registers += words(module, op.operands[i],
                           (i == 0 ? plan->second.operand_a : plan->second.operand_b).registers());
    }
  }
  return count > 1 ? registers + kTileRegisters * tiles : 0;
}

int blocks_beside_dots(const ir::Module& module, const LayoutAssignment& assignment,
                       const Target& target, int64_t shared_bytes) {
  int most = 0;
  ir::walk(module, module.body, [&](OpId id) {
    const OpNode& op = module.op(id);
    if (op.op == Op::For) most = std::max(most, dot_registers(module, assignment, op.regions[0]));
  });
  if (most == 0) return 1;
  int warps = assignment.warps;
  // Registers are given out to warps by 8 a thread, in each of the SM's four parts.
  int per_warp = (std::min(most, kMostRegisters) + 7) / 8 * 8 * 32;
  int64_t shared = shared_bytes + target.reserved_shared_per_block;
  int blocks = std::min(target.registers_per_sm / 4 / per_warp * 4 / warps,
                        static_cast<int>(target.shared_per_sm / std::max<int64_t>(1, shared)));
  return std::clamp(blocks, 1, std::max(1, kEnoughThreads / (32 * warps)));
}

}  // namespace

int wanted_blocks(const ir::Module& module, const LayoutAssignment& assignment,
                  const Target& target, int64_t shared_bytes) {
  if (!assignment.dots.empty()) return blocks_beside_dots(module, assignment, target, shared_bytes);
  int threads = assignment.warps * 32;
  int registers = (Pressure(module, assignment).registers() + kOtherRegisters + 7) / 8 * 8;
  registers = std::min(registers, kMostRegisters);
  int most = std::min(kEnoughThreads, target.max_threads_per_sm) / threads;
  int blocks =
      std::min({target.registers_per_sm / (registers * threads), most, target.max_blocks_per_sm});
  return std::max(1, blocks);
}

}  // namespace tilewright::cuda
