// Buffers: how long each is alive, which values share one, and where they lie in the arena.
#include "codegen/cpu/plan.h"

#include <algorithm>

#include "codegen/cpu/planner.h"
#include "dsl/base/check.h"

namespace tilewright::cpu {

using ir::Op;
using ir::OpId;
using ir::OpNode;
using ir::ValueId;

namespace {
constexpr size_t kNoGroup = static_cast<size_t>(-1);

bool is_loop(Op op) {
  return op == Op::For || op == Op::While;
}
}  // namespace

DotBlocking dot_blocking(const ir::Module& module, const OpNode& dot, int vector_bytes) {
  const ir::Shape& a = module.type(dot.operands[0]).shape;
  const ir::Type& result = module.type(dot.results[0]);
  DotBlocking b;
  size_t rank = a.size();
  for (size_t d = 0; d + 2 < rank; ++d) b.batch *= a[d];
  b.m = a[rank - 2];
  b.k = a[rank - 1];
  b.n = result.shape[rank - 1];
  if (!is_float(result.dtype))
    b.compute = result.dtype;
  else
    b.compute = result.dtype == Dtype::kF64 ? Dtype::kF64 : Dtype::kF32;
  // 16 accumulators of 32 registers with AVX-512, 8 of 16 otherwise, leave room for the operands.
  int64_t lanes = vector_bytes / dtype_bytes(b.compute);
  b.lanes = static_cast<int>(std::min(lanes, b.n));
  b.cols = static_cast<int>(std::min(2 * lanes, b.n));
  b.rows = static_cast<int>(std::min<int64_t>(vector_bytes == 64 ? 8 : 4, b.m));
  b.unroll = static_cast<int>(std::min<int64_t>(4, b.k));
  return b;
}

void Planner::number(ir::RegionId region, int depth) {
  for (OpId id : module_.region(region).ops) {
    const OpNode& op = module_.op(id);
    order_.push_back(id);
    begin_[id.index] = static_cast<int>(op_at_.size());
    op_at_.push_back(id);
    depth_[id.index] = depth;
    for (ValueId operand : op.operands) users_[operand.index].push_back(id);
    for (ir::RegionId nested : op.regions) number(nested, depth + (is_loop(op.op) ? 1 : 0));
    end_[id.index] = static_cast<int>(op_at_.size());
    if (!op.regions.empty()) op_at_.push_back(id);
  }
}

int Planner::depth_of_value(ValueId value) const {
  const ir::Value& v = module_.value(value);
  if (v.def.valid()) return depth_[v.def.index];
  OpId owner = module_.region(v.region).parent;
  if (!owner.valid()) return 0;
  return depth_[owner.index] + (is_loop(module_.op(owner).op) ? 1 : 0);
}

bool Planner::is_dead(const OpNode& op) const {
  if (op.results.empty() || !op.regions.empty() || ir::op_info(op.op).has(ir::kWrites))
    return false;
  return std::all_of(op.results.begin(), op.results.end(),
                     [&](ValueId r) { return plan_.of(r) == Plan::How::kDead; });
}

// The last position at which `value` is read. A loop that does not contain the definition may read
// it again in its next iteration, so it counts to the end of the loop.
int Planner::live_until(ValueId value, int at_least) const {
  const ir::Value& v = module_.value(value);
  ir::RegionId home = v.def.valid() ? module_.op(v.def).parent : v.region;
  int last = at_least;
  for (const Sink& sink : sinks_[value.index]) {
    int at = begin_[sink.op.index];
    for (ir::RegionId region = module_.op(sink.op).parent; region != home;) {
      OpId owner = module_.region(region).parent;
      TW_CHECK(owner.valid(), "a value is read outside of its region");
      if (is_loop(module_.op(owner).op)) at = std::max(at, end_[owner.index]);
      region = module_.op(owner).parent;
    }
    last = std::max(last, at);
  }
  return last;
}

size_t Planner::new_group(const ir::Type& type, Interval interval) {
  groups_.push_back({align_up(type.element_count() * type.element_bytes()), {interval}, kNoBuffer});
  return groups_.size() - 1;
}

void Planner::join_value(ValueId value, size_t group, Interval interval) {
  group_of_[value.index] = group;
  groups_[group].intervals.push_back(interval);
}

// Carried tiles: of `for`, the argument and the result are one buffer; of `while`, one buffer goes
// into the condition, another holds what the condition passes on.
void Planner::create_loop_groups(OpId id) {
  const OpNode& op = module_.op(id);
  int begin = begin_[id.index], end = end_[id.index];
  for (size_t i = 0; i < op.results.size(); ++i) {
    ValueId result = op.results[i];
    const ir::Type& type = module_.type(result);
    if (type.is_scalar()) continue;
    Interval after{end, live_until(result, end)};
    if (op.op == Op::If) {
      group_of_[result.index] = new_group(type, {begin, after.end});
    } else if (op.op == Op::For) {
      const ir::Region& body = module_.region(op.regions[0]);
      ValueId arg = body.args[i + 1];
      size_t group = new_group(type, {begin, live_until(arg, begin)});
      group_of_[arg.index] = group;
      join_value(result, group, {begin_[body.ops.back().index], after.end});
    } else {
      ValueId before = module_.region(op.regions[0]).args[i];
      ValueId passed = module_.region(op.regions[1]).args[i];
      group_of_[before.index] = new_group(type, {begin, end});
      size_t group = new_group(type, {begin, after.end});
      group_of_[passed.index] = group;
      join_value(result, group, after);
    }
  }
}

void Planner::create_groups() {
  group_of_.assign(module_.value_count(), kNoGroup);
  for (OpId id : order_) {
    const OpNode& op = module_.op(id);
    if (op.op == Op::For || op.op == Op::While || op.op == Op::If) {
      create_loop_groups(id);
      continue;
    }
    int at = begin_[id.index];
    for (ValueId result : op.results)
      if (plan_.is_buffer(result))
        group_of_[result.index] = new_group(module_.type(result), {at, live_until(result, at)});
  }
}

// Makes a and b share a buffer if they are never alive together. They may meet at the positions in
// `touching`, where the one is read, element by element, as the other is written.
bool Planner::try_merge(ValueId a, ValueId b, std::vector<int> touching) {
  size_t into = group_of_[a.index], from = group_of_[b.index];
  if (into == kNoGroup || from == kNoGroup) return false;
  if (into == from) return true;
  if (groups_[into].bytes != groups_[from].bytes) return false;
  auto meets = [&](const Interval& first, const Interval& second) {
    return first.end == second.begin &&
           std::find(touching.begin(), touching.end(), first.end) != touching.end();
  };
  for (const Interval& x : groups_[into].intervals)
    for (const Interval& y : groups_[from].intervals)
      if (x.begin <= y.end && y.begin <= x.end && !meets(x, y) && !meets(y, x)) return false;
  auto& intervals = groups_[into].intervals;
  intervals.insert(intervals.end(), groups_[from].intervals.begin(), groups_[from].intervals.end());
  groups_[from].intervals.clear();
  for (size_t& group : group_of_)
    if (group == from) group = into;
  return true;
}

// Whether evaluating `value` reads the buffer of `target`.
bool Planner::reads(ValueId value, ValueId target) const {
  if (value == target) return true;
  if (plan_.of(value) != Plan::How::kLazy) return false;
  const OpNode& def = *module_.def(value);
  return std::any_of(def.operands.begin(), def.operands.end(),
                     [&](ValueId operand) { return reads(operand, target); });
}

// Whether each element of `value` reads only the same element of `target`, if any.
bool Planner::reads_aligned(ValueId value, ValueId target) const {
  if (value == target || plan_.of(value) != Plan::How::kLazy) return true;
  const OpNode& def = *module_.def(value);
  bool element_wise = ir::op_info(def.op).family == ir::Family::kElementwise ||
                      def.op == Op::Hint || def.op == Op::Load;
  return std::all_of(def.operands.begin(), def.operands.end(), [&](ValueId operand) {
    return element_wise ? reads_aligned(operand, target) : !reads(operand, target);
  });
}

// Whether `next` may be written over `arg` while its defining op runs.
bool Planner::may_update_in_place(ValueId arg, ValueId next) const {
  const OpNode* def = module_.def(next);
  if (!def) return false;
  // The packed operands of dot are copied before anything is written.
  if (def->op == Op::Dot) return reads_aligned(def->operands[2], arg);
  if (!may_be_lazy(*def)) return false;
  ir::Family family = ir::op_info(def->op).family;
  if (family == ir::Family::kShape)
    return std::none_of(def->operands.begin(), def->operands.end(),
                        [&](ValueId operand) { return reads(operand, arg); });
  return std::all_of(def->operands.begin(), def->operands.end(),
                     [&](ValueId operand) { return reads_aligned(operand, arg); });
}

void Planner::merge_loop(OpId id) {
  const OpNode& op = module_.op(id);
  const ir::Region& body = module_.region(op.regions[0]);
  OpId yield_id = body.ops.back();
  const OpNode& yield = module_.op(yield_id);
  for (size_t i = 0; i < op.results.size(); ++i) {
    ValueId arg = body.args[i + 1], init = op.operands[i + 3], next = yield.operands[i];
    if (module_.type(arg).is_scalar()) continue;
    if (plan_.is_buffer(init)) try_merge(arg, init, {begin_[id.index]});
    if (!plan_.is_buffer(next) || next == arg || group_of_[next.index] == group_of_[arg.index])
      continue;
    if (std::count(yield.operands.begin(), yield.operands.end(), next) != 1) continue;
    const ir::Value& value = module_.value(next);
    std::vector<int> touching = {begin_[yield_id.index]};
    if (value.def.valid() && may_update_in_place(arg, next))
      touching.push_back(begin_[value.def.index]);
    try_merge(arg, next, touching);
  }
}

void Planner::add_scratch(OpId op, int64_t bytes, Interval interval) {
  if (bytes == 0) return;
  groups_.push_back({align_up(bytes), {interval}, kNoBuffer});
  scratch_groups_.emplace_back(op, groups_.size() - 1);
}

void Planner::plan_yield(OpId loop_id) {
  const ir::Region& body = module_.region(module_.op(loop_id).regions[0]);
  OpId id = body.ops.back();
  const OpNode& yield = module_.op(id);
  std::vector<Plan::Pass>& passes = plan_.passes[id.index];
  passes.assign(yield.operands.size(), Plan::Pass::kDirect);
  std::vector<size_t> moving;
  for (size_t i = 0; i < yield.operands.size(); ++i) {
    ValueId arg = body.args[i + 1];
    if (module_.type(arg).is_scalar()) continue;
    if (plan_.is_buffer(yield.operands[i]) &&
        group_of_[yield.operands[i].index] == group_of_[arg.index])
      passes[i] = Plan::Pass::kInPlace;
    else
      moving.push_back(i);
  }
  bool stage = false;
  for (size_t i : moving)
    for (size_t j : moving) {
      ValueId arg = body.args[j + 1];
      stage |= i == j ? !reads_aligned(yield.operands[i], arg) : reads(yield.operands[i], arg);
    }
  if (!stage) return;
  int64_t bytes = 0;
  for (size_t i : moving) {
    passes[i] = Plan::Pass::kStaged;
    const ir::Type& type = module_.type(yield.operands[i]);
    bytes += align_up(type.element_count() * type.element_bytes());
  }
  add_scratch(id, bytes, {begin_[id.index], begin_[id.index]});
}

// Largest first, each at the lowest offset where nothing that is alive at the same time lies.
void Planner::place() {
  struct Span {
    size_t group;
    int begin, end;
  };
  std::vector<Span> spans;
  for (size_t g = 0; g < groups_.size(); ++g) {
    if (groups_[g].intervals.empty()) continue;
    Span span{g, groups_[g].intervals[0].begin, 0};
    for (const Interval& i : groups_[g].intervals) {
      span.begin = std::min(span.begin, i.begin);
      span.end = std::max(span.end, i.end);
    }
    spans.push_back(span);
  }
  std::stable_sort(spans.begin(), spans.end(), [&](const Span& a, const Span& b) {
    return groups_[a.group].bytes > groups_[b.group].bytes;
  });
  for (size_t i = 0; i < spans.size(); ++i) {
    std::vector<std::pair<int64_t, int64_t>> taken;
    for (size_t j = 0; j < i; ++j)
      if (spans[j].begin <= spans[i].end && spans[i].begin <= spans[j].end)
        taken.emplace_back(groups_[spans[j].group].offset, groups_[spans[j].group].bytes);
    std::sort(taken.begin(), taken.end());
    int64_t offset = 0, bytes = groups_[spans[i].group].bytes;
    for (auto [start, size] : taken) {
      if (offset + bytes <= start) break;
      offset = std::max(offset, start + size);
    }
    groups_[spans[i].group].offset = offset;
    plan_.arena_bytes = std::max(plan_.arena_bytes, offset + bytes);
  }
}

Plan Planner::run() {
  begin_.resize(module_.op_count());
  end_.resize(module_.op_count());
  depth_.resize(module_.op_count());
  users_.resize(module_.value_count());
  sinks_.resize(module_.value_count());
  plan_.how.assign(module_.value_count(), Plan::How::kScalar);
  plan_.buffer.assign(module_.value_count(), kNoBuffer);
  plan_.scratch.assign(module_.op_count(), kNoBuffer);
  plan_.passes.resize(module_.op_count());
  plan_.deferred.resize(module_.op_count());
  plan_.is_deferred.resize(module_.value_count());
  number(module_.body, 0);
  estimate_costs();
  decide();
  defer_loads();
  create_groups();
  for (OpId id : order_)
    if (module_.op(id).op == Op::For) merge_loop(id);
  for (OpId id : order_) {
    const OpNode& op = module_.op(id);
    if (op.op == Op::For) plan_yield(id);
    if (op.op != Op::Dot || is_dead(op)) continue;
    try_merge(op.results[0], op.operands[2], {begin_[id.index]});
    DotBlocking b = dot_blocking(module_, op, vector_bytes_);
    add_scratch(id, align_up(b.a_bytes()) + align_up(b.b_bytes()),
                {begin_[id.index], begin_[id.index]});
  }
  place();
  for (size_t v = 0; v < group_of_.size(); ++v)
    if (group_of_[v] != kNoGroup) plan_.buffer[v] = groups_[group_of_[v]].offset;
  for (auto [op, group] : scratch_groups_) plan_.scratch[op.index] = groups_[group].offset;
  return std::move(plan_);
}

Plan make_plan(const ir::Module& module, int vector_bytes) {
  return Planner(module, vector_bytes).run();
}

}  // namespace tilewright::cpu
