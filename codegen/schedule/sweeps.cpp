#include "codegen/schedule/sweeps.h"

#include <algorithm>

#include "codegen/passes/passes.h"
#include "codegen/schedule/bounds.h"
#include "codegen/schedule/clone.h"
#include "codegen/schedule/pointer_roots.h"

namespace tilewright::schedule {
namespace {

using ir::Module;
using ir::Op;
using ir::OpId;
using ir::OpNode;
using ir::RegionId;
using ir::ValueId;

// The text doubles: only for kernels that are short.
constexpr size_t kMostOps = 400;
// Registers a thread may hold of tiles that are kept instead of loaded again. More would cost
// warps, and what a row's second sweep loads is mostly in the L1 cache.
constexpr int64_t kMostKept = 16;

bool has_op(const Module& module, RegionId region, Op wanted) {
  bool found = false;
  ir::walk(module, region, [&](OpId id) { found |= module.op(id).op == wanted; });
  return found;
}

// Copies ops, with what the loops of `sweeps` do in their only iteration in place of the loops.
class Unroller : public Cloner {
 public:
  Unroller(Module& module, const std::vector<OpId>& sweeps) : Cloner(module), sweeps_(sweeps) {}

 private:
  bool replace(OpId id, RegionId to) override {
    if (std::ranges::count(sweeps_, id) == 0) return false;
    const OpNode node = m_.op(id);
    const ir::Region body = m_.region(node.regions[0]);
    map[body.args[0]] = mapped(node.operands[0]);
    for (size_t j = 0; j < node.results.size(); ++j)
      map[body.args[j + 1]] = mapped(node.operands[j + 3]);
    copy({body.ops.begin(), body.ops.end() - 1}, to);
    const std::vector<ValueId> last = m_.op(body.ops.back()).operands;
    for (size_t j = 0; j < node.results.size(); ++j) map[node.results[j]] = mapped(last[j]);
    return true;
  }

  const std::vector<OpId>& sweeps_;
};

// Loads that repeat an earlier one of the region, with nothing written in between that may be what
// they read.
class LoadMerger {
 public:
  LoadMerger(Module& module, RegionId region) : m_(module), roots_(module), region_(region) {}

  // Returns the registers a thread needs to keep the merged tiles.
  int64_t run() {
    std::vector<OpId> kept;
    for (OpId id : m_.region(region_).ops) {
      const OpNode& op = m_.op(id);
      if (op.op == Op::Load && op.attrs.get_int("volatile") != 1) {
        if (OpId same = known(op); same.valid()) {
          m_.replace_uses(op.results[0], m_.op(same).results[0]);
          count(same);
          m_.op(id).parent = {};
          continue;
        }
        known_.push_back(id);
      } else {
        forget(id);
      }
      kept.push_back(id);
    }
    m_.region(region_).ops = std::move(kept);
    return registers_;
  }

 private:
  OpId known(const OpNode& load) const {
    for (OpId id : known_)
      if (m_.op(id).operands == load.operands && m_.op(id).attrs == load.attrs) return id;
    return {};
  }

  void count(OpId load) {
    if (std::ranges::count(merged_, load) > 0) return;
    merged_.push_back(load);
    const ir::Type& type = m_.type(m_.op(load).results[0]);
    int64_t threads = 32 * m_.attrs.get_int("num_warps", 4);
    if (type.is_tile())
      registers_ += std::max<int64_t>(1, type.element_count() / threads) *
                    std::max(1, dtype_bytes(type.dtype) / 4);
  }

  void forget(OpId id) {
    const OpNode& op = m_.op(id);
    if (op.op == Op::Store) {
      std::erase_if(known_, [&](OpId load) {
        return roots_.may_overlap(m_.op(load).operands[0], op.operands[0]);
      });
    } else if (!ir::op_info(op.op).has(ir::kCombines) &&
               (ir::op_info(op.op).has(ir::kWrites) || !op.regions.empty())) {
      known_.clear();  // order between programs, or writes inside
    }
  }

  Module& m_;
  PointerRoots roots_;
  RegionId region_;
  std::vector<OpId> known_, merged_;
  int64_t registers_ = 0;
};

}  // namespace

std::vector<OpId> find_sweeps(const Module& module, RegionId region) {
  std::vector<OpId> loops, best;
  for (OpId id : module.region(region).ops)
    if (module.op(id).op == Op::For) loops.push_back(id);
  for (OpId first : loops) {
    auto bounds = [&](OpId id) {
      const auto& operands = module.op(id).operands;
      return std::vector<ValueId>(operands.begin(), operands.begin() + 3);
    };
    std::vector<OpId> same;
    std::ranges::copy_if(loops, std::back_inserter(same),
                         [&](OpId id) { return bounds(id) == bounds(first); });
    if (same.size() > best.size()) best = same;
  }
  return best.size() > 1 ? best : std::vector<OpId>{};
}

bool merge_sweeps(Module& module) {
  std::vector<OpId> sweeps = find_sweeps(module, module.body);
  if (sweeps.empty() || module.op_count() > kMostOps) return false;
  for (OpId id : sweeps) {
    auto step = Loop(module, id).constant_step();
    if (!step || *step <= 0 || *step > INT32_MAX) return false;
  }
  if (has_op(module, module.body, Op::Dot)) return false;

  Module versioned = module;
  const std::vector<OpId> ops = versioned.region(versioned.body).ops;
  auto first = std::ranges::find(ops, sweeps[0]);
  std::vector<OpId> before(ops.begin(), first), rest(first, ops.end() - 1);
  RegionId body = versioned.body;
  OpId end = ops.back();
  versioned.region(body).ops = before;

  ir::Builder b(versioned);
  b.set_region(body);
  b.set_span(versioned.op(sweeps[0]).span);
  Loop loop(versioned, sweeps[0]);
  Bounds bounds(loop, b);
  ValueId more = b.make(Op::Not, {bounds.exists_after(loop.lo(), 1)});
  ValueId once = b.make(Op::And, {bounds.exists(0), more});
  OpId choice = b.make_if(once, {});
  RegionId single = versioned.op(choice).regions[0], many = versioned.op(choice).regions[1];
  Unroller(versioned, sweeps).copy(rest, single);
  for (OpId id : rest) versioned.op(id).parent = {};
  versioned.op(end).parent = {};
  for (OpId id : rest) versioned.append(many, id);
  for (RegionId region : {single, many}) {
    b.set_region(region);
    b.yield({});
  }
  versioned.append(body, end);

  passes::canonicalize(versioned);
  passes::eliminate_common_subexpressions(versioned);
  const std::vector<OpId>& rewritten = versioned.region(versioned.body).ops;
  choice = rewritten.size() < 2 ? rewritten.back() : rewritten.end()[-2];
  if (versioned.op(choice).op != Op::If) return false;  // the number of iterations is known
  int64_t kept = LoadMerger(versioned, versioned.op(choice).regions[0]).run();
  if (kept == 0 || kept > kMostKept) return false;
  passes::eliminate_common_subexpressions(versioned);
  passes::hoist_loop_invariants(versioned);
  passes::eliminate_dead_code(versioned);
  module = std::move(versioned);
  return true;
}

}  // namespace tilewright::schedule
