#include "codegen/schedule/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace tilewright::schedule {

using ir::Op;
using ir::OpId;
using ir::OpNode;
using ir::ValueId;
using How = LoadReport::How;

namespace {

// 32-bit registers a thread may spend on what is loaded ahead.
//
// Loads beside dots (scales, bias, indices) share the register file with accumulators. A loop
// without dots hides a memory latency of about 600 ns by bytes in flight: H200 needs 22 KB an SM at
// full bandwidth, which 1024 threads reach with two 16-byte vectors each. One iteration ahead
// doubles what is in flight; a loop that loads more than four vectors a thread is there already,
// and would only lose registers: none of its loads moves. For the same reason one iteration ahead
// is all that pays. With 32 warps a thread has 64 registers, and no more than an eighth is given.
constexpr int kAheadBesideDots = 16, kAheadAlone = 16, kShareAhead = 8;
// A loop that reduces waits for all it loads in every iteration, however many bytes those are:
// there, what can be copied lies in shared memory, and costs no registers. What one iteration waits
// for has landed when the copies of the next one start, so with two slots nothing would be in
// flight for a moment: as many slots as are asked for, if programs of so many threads find room on
// an SM.
constexpr int kThreadsAlone = 512;
// A scalar that is loaded in the iteration that uses it costs a latency of memory, whatever else is
// in flight; a register or two are always worth it.
constexpr int kFewRegisters = 2;
// Shared memory for what a reduction exchanges.
constexpr int kExchanges = 1024;
// What is staged through registers to shared memory stands beside a whole accumulator.
constexpr int kStaged = 64;
// Fewer iterations than this leave nothing to hide.
constexpr int kFewIterations = 3;

enum class Feeds : uint8_t { kNothing, kTransformed, kDirectly };

bool has_reduce(const ir::Module& module, const Loop& loop) {
  return std::ranges::any_of(loop.ops, [&](OpId id) { return module.op(id).op == Op::Reduce; });
}

bool only_moves(Op op) {
  return op == Op::Permute || op == Op::Reshape || op == Op::Hint;
}
// Ops that keep a tile's elements apart: what goes in is about as large as what comes out.
bool keeps_size(Op op) {
  return ir::op_info(op).family == ir::Family::kElementwise || op == Op::Join || op == Op::Split ||
         op == Op::Cat;
}

// How the value reaches operands a and b of dots in the loop, at best.
Feeds feeds_dot(const ir::Module& module, const Loop& loop, ValueId value, bool directly,
                std::set<ValueId>& seen) {
  if (!module.type(value).is_tile() || !seen.insert(value).second) return Feeds::kNothing;
  Feeds best = Feeds::kNothing;
  for (OpId user : loop.users(value)) {
    const OpNode& op = module.op(user);
    bool moves = only_moves(op.op);
    bool multiplied = false;
    for (size_t i = 0; op.op == Op::Dot && i < op.operands.size(); ++i)
      multiplied = multiplied || (i != 2 && op.operands[i] == value);
    if (multiplied) best = std::max(best, directly ? Feeds::kDirectly : Feeds::kTransformed);
    if (!moves && !keeps_size(op.op)) continue;
    for (ValueId result : op.results)
      best = std::max(best, feeds_dot(module, loop, result, directly && moves, seen));
  }
  return best;
}

Feeds feeds_dot(const ir::Module& module, const Loop& loop, OpId load) {
  ValueId value = module.op(load).results[0];
  if (module.type(value).rank() < 2) return Feeds::kNothing;
  std::set<ValueId> seen;
  return feeds_dot(module, loop, value, true, seen);
}

// A vector that is broadcast into a tile, perhaps after element-wise ops.
bool is_broadcast(const ir::Module& module, const Loop& loop, OpId load) {
  ValueId value = module.op(load).results[0];
  if (module.type(value).rank() != 1) return false;
  std::vector<ValueId> pending = {value};
  std::set<ValueId> seen;
  while (!pending.empty()) {
    ValueId at = pending.back();
    pending.pop_back();
    if (!seen.insert(at).second) continue;
    for (OpId user : loop.users(at)) {
      const OpNode& op = module.op(user);
      if (op.op == Op::ExpandDims) return true;
      if (ir::op_info(op.op).family == ir::Family::kElementwise) pending.push_back(op.results[0]);
    }
  }
  return false;
}

bool is_zero(const ir::Module& module, ValueId value) {
  const OpNode* def = module.def(value);
  if (def != nullptr && def->op == Op::Splat) return is_zero(module, def->operands[0]);
  if (def == nullptr || def->op != Op::Const) return false;
  const ir::AttrValue& number = *def->attrs.find("value");
  if (const auto* integer = std::get_if<int64_t>(&number)) return *integer == 0;
  const double* real = std::get_if<double>(&number);
  return real != nullptr && *real == 0 && !std::signbit(*real);
}

// The same in every iteration.
bool is_invariant(const Loop& loop, const OpNode& load) {
  return std::ranges::none_of(load.operands, [&](ValueId v) { return loop.is_inside(v); });
}

bool has_dot(const ir::Module& module, const Loop& loop) {
  return std::ranges::any_of(loop.ops, [&](OpId id) { return module.op(id).op == Op::Dot; });
}

// Reads what another program may have written in the meantime, and acts upon it.
bool synchronizes(const Loop& loop, const OpNode& op) {
  if (op.op != Op::AtomicRmw && op.op != Op::AtomicCas) return false;
  std::string_view order = op.attrs.get_word("sem", "acq_rel");
  return (order == "acq_rel" || order == "acquire") && !loop.users(op.results[0]).empty();
}

}  // namespace

bool LoopPlan::uses(How how) const {
  return std::ranges::any_of(
      loads, [&](const PlannedLoad& load) { return load.how == how && load.is_needed; });
}

Planner::Planner(const ir::Module& module, const Target& target, const ScheduleOptions& options)
    : module_(module),
      target_(target),
      options_(options),
      axes_(analysis::analyze_axes(module)),
      roots_(module),
      threads_(32 * static_cast<int>(module.attrs.get_int("num_warps", 4))) {}

std::vector<LoopPlan> Planner::plan_all() {
  std::vector<LoopPlan> plans;
  ir::walk(module_, module_.body, [&](OpId id) {
    const OpNode& op = module_.op(id);
    if (op.op != Op::For) return;
    bool innermost = true;
    ir::walk(module_, op.regions[0], [&](OpId inner) {
      innermost &= module_.op(inner).op != Op::For && module_.op(inner).op != Op::While;
    });
    if (innermost) plans.push_back(plan(id));
  });
  return plans;
}

LoopPlan Planner::plan(OpId id) {
  Loop loop(module_, id);
  LoopPlan plan{.loop = id, .why = {}, .loads = {}};
  plan.requested = static_cast<int>(
      loop.node().attrs.get_int("num_stages", module_.attrs.get_int("num_stages", 1)));
  plan.requested = std::max(1, plan.requested);
  plan.stages = std::clamp(options_.max_stages, 1, plan.requested);
  if (plan.stages < plan.requested) plan.why = "more do not fit in shared memory";
  bool single = plan.stages == 1 && plan.requested > 1 && options_.max_stages == 1;
  std::string obstacle = plan.requested == 1           ? "the loop asks for one stage"
                         : plan.stages == 1 && !single ? plan.why
                                                       : find_obstacle(loop);
  for (OpId load : loop.loads)
    plan.loads.push_back({load, How::kKept, obstacle.empty() ? cannot_move(loop, load) : obstacle});
  if (obstacle.empty() && single) {
    decide_single(loop, plan);
  } else if (obstacle.empty()) {
    decide(loop, plan);
  } else {
    plan.stages = 1;
    plan.why = plan.requested == 1 ? "" : obstacle;
  }
  return plan;
}

std::string Planner::find_obstacle(const Loop& loop) const {
  if (auto step = loop.constant_step(); step && (*step > INT32_MAX || *step < -INT32_MAX))
    return "the loop's step is longer than 31 bits";
  for (OpId id : loop.ops) {
    const OpNode& op = module_.op(id);
    if (op.op == Op::Barrier || op.op == Op::Assert)
      return "the loop holds `" + std::string(ir::op_info(op.op).mnemonic) + "`";
    if (op.op == Op::CopyAsync || op.op == Op::CopyWait) return "the loop is scheduled already";
    if (synchronizes(loop, op)) return "the loop acts upon an atomic that acquires";
  }
  if (auto count = loop.trip_count(); count && *count < 2)
    return "the loop has " + std::to_string(*count) + " iterations";
  return "";
}

std::string Planner::cannot_move(const Loop& loop, OpId load) {
  const OpNode& op = module_.op(load);
  if (op.attrs.get_int("volatile") == 1 || op.attrs.get_word("cache") == "cv")
    return "it is volatile";
  if (std::string why = writes_to(loop, load); !why.empty()) return why;
  std::vector<OpId> behind;
  for (ValueId operand : op.operands)
    if (std::string why = loop.cannot_advance(operand, &behind); !why.empty()) return why;
  for (OpId other : behind) {
    if (module_.op(other).attrs.get_int("volatile") == 1) return "its address is volatile";
    if (std::string why = writes_to(loop, other); !why.empty()) return "its address: " + why;
  }
  return "";
}

std::string Planner::writes_to(const Loop& loop, OpId load) {
  for (OpId id : loop.ops) {
    const OpNode& op = module_.op(id);
    if (op.op != Op::Store && op.op != Op::AtomicRmw && op.op != Op::AtomicCas) continue;
    if (roots_.may_overlap(op.operands[0], module_.op(load).operands[0]))
      return "the loop may write to what it reads";
  }
  return "";
}

// Follows what the loop must compute in each iteration back to loads; the addresses of loads that
// move are computed elsewhere.
void Planner::find_needed(const Loop& loop, std::vector<PlannedLoad>& loads) const {
  std::map<OpId, PlannedLoad*> moved;
  for (PlannedLoad& load : loads)
    if (load.why.empty()) moved[load.op] = &load;
  for (PlannedLoad& load : loads) load.is_needed = !load.why.empty();
  std::set<ValueId> seen;
  std::vector<ValueId> pending;
  auto want = [&](const OpNode& op) {
    pending.insert(pending.end(), op.operands.begin(), op.operands.end());
  };
  for (OpId id : loop.ops) {
    const OpNode& op = module_.op(id);
    const ir::OpInfo& info = ir::op_info(op.op);
    if (info.has(ir::kWrites) || info.has(ir::kTerminator) || op.op == Op::If) want(op);
    if (op.op == Op::Load && !moved.contains(id)) want(op);
  }
  while (!pending.empty()) {
    ValueId value = pending.back();
    pending.pop_back();
    if (!loop.is_inside(value) || !seen.insert(value).second) continue;
    OpId id = module_.value(value).def;
    if (!id.valid()) continue;
    if (auto found = moved.find(id); found != moved.end())
      found->second->is_needed = true;
    else
      want(module_.op(id));
  }
}

void Planner::decide(const Loop& loop, LoopPlan& plan) {
  find_needed(loop, plan.loads);
  bool dots = has_dot(module_, loop);
  auto count = loop.trip_count();
  bool few = !dots && count && *count < kFewIterations;
  int most = std::min(dots ? kAheadBesideDots : kAheadAlone,
                      target_.registers_per_sm / threads_ / kShareAhead);
  int ahead = most, staged = kStaged, all = 0;
  for (OpId load : loop.loads) all += registers(load);
  bool enough = !dots && all > most, waits = !dots && has_reduce(module_, loop);
  // A loop whose dots read what was computed from tiles of shared memory: scales and the like may
  // lie there too, where every thread finds those of its columns without a 64-bit address each.
  bool computes = std::ranges::any_of(plan.loads, [&](const PlannedLoad& load) {
    return load.why.empty() && feeds_dot(module_, loop, load.op) == Feeds::kTransformed &&
           cannot_copy(load.op).empty();
  });
  for (PlannedLoad& load : plan.loads) {
    if (!load.why.empty()) continue;
    if (!load.is_needed) {
      load.how = How::kAhead;
      load.why = "only addresses need it";
      continue;
    }
    Feeds feeds = feeds_dot(module_, loop, load.op);
    std::string no_copy = feeds == Feeds::kNothing ? "" : cannot_copy(load.op);
    if (feeds != Feeds::kNothing && no_copy.empty()) {
      load.how = How::kAsync;
      load.why = feeds == Feeds::kDirectly ? "a dot reads it" : "it feeds a dot";
    } else if (feeds == Feeds::kDirectly && registers(load.op) <= staged) {
      staged -= registers(load.op);
      load.how = How::kStaged;
      load.why = "a dot reads it; " + no_copy;
    } else if (computes && is_broadcast(module_, loop, load.op) && cannot_copy(load.op).empty()) {
      load.how = How::kAsync;
      load.why = "a vector beside a dot";
    } else if (few) {
      load.why = "the loop has too few iterations";
    } else if (waits && cannot_copy(load.op).empty()) {
      bool once = is_invariant(loop, module_.op(load.op));
      load.how = once ? How::kOnce : How::kAsync;
      load.why = once ? "all iterations load the same" : "shared memory holds it";
    } else if (enough && registers(load.op) > kFewRegisters) {
      load.why = fmt::format("the loop has {} bytes a thread in flight as it is", 4 * all);
    } else if (registers(load.op) > ahead) {
      load.why = (no_copy.empty() ? "" : no_copy + "; ") + "it would take too many registers";
    } else {
      ahead -= registers(load.op);
      load.how = How::kAhead;
      load.why = (no_copy.empty() ? "" : no_copy + "; ") + "registers hold it";
    }
  }
  if (!plan.uses(How::kAsync))
    for (PlannedLoad& load : plan.loads)
      if (load.how == How::kOnce) load.how = How::kKept;
  bool async = plan.uses(How::kAsync), other = plan.uses(How::kStaged) || plan.uses(How::kAhead);
  int wanted = plan.stages;
  if (!async) plan.stages = other ? std::min(plan.stages, 2) : 1;
  if (async && !dots) plan.stages = slots_alone(plan);
  if (count && plan.stages > *count) plan.stages = static_cast<int>(*count);
  if (plan.stages == wanted) return;
  plan.why = count && plan.stages == *count
                 ? "the loop has " + std::to_string(*count) + " iterations"
             : async ? "more would leave too few programs room in shared memory"
             : other ? "registers hold one iteration ahead"
                     : "no load can be started ahead";
}

void Planner::decide_single(const Loop& loop, LoopPlan& plan) const {
  std::set<ValueId> copied;
  for (PlannedLoad& load : plan.loads) {
    bool reads = feeds_dot(module_, loop, load.op) == Feeds::kDirectly;
    if (load.why.empty() && reads && cannot_copy(load.op).empty()) {
      load.how = How::kAsync;
      load.why = "a dot reads it; in its own iteration";
      copied.insert(module_.op(load.op).results[0]);
    } else if (load.why.empty()) {
      load.why = plan.why;
    }
  }
  // All are waited for behind the last one.
  size_t left = copied.size();
  bool used = false;
  for (OpId id : module_.region(loop.body).ops) {
    const OpNode& op = module_.op(id);
    for (ValueId operand : op.operands) used |= left > 0 && copied.contains(operand);
    for (ValueId result : op.results) left -= copied.contains(result);
  }
  if (!used) return;
  for (PlannedLoad& load : plan.loads) {
    load.how = How::kKept;
    load.why = plan.why;
  }
}

int Planner::slots_alone(const LoopPlan& plan) const {
  int64_t slot = 0, once = 0;
  for (const PlannedLoad& load : plan.loads) {
    const ir::Type& type = module_.type(module_.op(load.op).results[0]);
    int64_t bytes = type.element_count() * dtype_bytes(type.dtype);
    if (load.is_needed && load.how == How::kAsync) slot += bytes;
    if (load.is_needed && load.how == How::kOnce) once += bytes;
  }
  int64_t programs = std::max(1, kThreadsAlone / threads_);
  int64_t room = target_.shared_per_sm / programs - target_.reserved_shared_per_block;
  room = std::min<int64_t>(room, target_.shared_per_block) - kExchanges;
  int slots = plan.stages;
  while (slots > 2 && slots * slot + once > room) --slots;
  return slots;
}

std::string Planner::cannot_copy(OpId load) const {
  const OpNode& op = module_.op(load);
  const ir::Type& type = module_.type(op.results[0]);
  if (!target_.has_cp_async) return std::string(target_.name) + " has no asynchronous copies";
  if (type.dtype == Dtype::kI1) return "i1 is not copied as it is";
  if (op.operands.size() > 2 && !is_zero(module_, op.operands[2])) return "`other` is not zero";
  int bytes = 0;
  for (int axis = 0; axis < type.rank(); ++axis)
    bytes = std::max(bytes, analysis::vector_width(module_, axes_, load, axis));
  bytes *= dtype_bytes(type.dtype);
  return bytes >= 4 ? "" : "runs of " + std::to_string(bytes) + " bytes are too short to copy";
}

int Planner::registers(OpId load) const {
  const ir::Type& type = module_.type(module_.op(load).results[0]);
  int64_t elements = std::max<int64_t>(1, type.element_count() / threads_);
  return static_cast<int>((elements * dtype_bytes(type.dtype) + 3) / 4);
}

}  // namespace tilewright::schedule
