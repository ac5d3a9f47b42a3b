// Loops, branches, and how values travel between regions: scalars through stack slots that LLVM
// turns into registers, tiles through buffers.
#include <fmt/format.h>

#include "codegen/cpu/calc.h"
#include "codegen/cpu/emitter.h"
#include "dsl/base/check.h"

namespace tilewright::cpu {

using ir::OpNode;
using ir::ValueId;

namespace {

using V = std::string;

class Slots {
 public:
  Slots(Emitter& e, const std::vector<ValueId>& values) : e_(e) {
    for (ValueId value : values)
      slots_.push_back(e.type(value).is_scalar()
                           ? e.text.let_in_entry("alloca " + register_type(e.type(value)))
                           : V());
  }
  // Scalars only; tiles are the caller's.
  void write(size_t i, ValueId value) {
    if (slots_[i].empty()) return;
    e_.text.line(fmt::format("store {} {}, ptr {}", register_type(e_.type(value)), e_.scalar(value),
                             slots_[i]));
  }
  void read(size_t i, ValueId into) {
    if (slots_[i].empty()) return;
    e_.set_scalar(
        into, e_.text.let(fmt::format("load {}, ptr {}", register_type(e_.type(into)), slots_[i])));
  }

 private:
  Emitter& e_;
  std::vector<V> slots_;
};

void copy_into(Emitter& e, ValueId from, ValueId into) {
  int64_t target = e.plan().buffer[into.index];
  if (e.plan().is_buffer(from) && e.plan().buffer[from.index] == target) return;
  e.fill(e.buffer_address(target), from, false);
}

// The tiles that a for's yield passes on, in an order that reads before it overwrites (Plan::Pass).
void pass_yielded(Emitter& e, ir::OpId yield_id, const std::vector<ValueId>& args) {
  const OpNode& yield = e.module.op(yield_id);
  const auto& passes = e.plan().passes[yield_id.index];
  std::vector<std::pair<size_t, V>> staged;
  int64_t offset = e.plan().scratch[yield_id.index];
  for (size_t i = 0; i < yield.operands.size(); ++i) {
    if (e.type(yield.operands[i]).is_scalar() || passes[i] != Plan::Pass::kStaged) continue;
    staged.emplace_back(i, e.buffer_address(offset));
    e.fill(staged.back().second, yield.operands[i], false);
    const ir::Type& type = e.type(yield.operands[i]);
    offset += align_up(type.element_count() * type.element_bytes());
  }
  for (size_t i = 0; i < yield.operands.size(); ++i)
    if (!e.type(yield.operands[i]).is_scalar() && passes[i] == Plan::Pass::kDirect)
      copy_into(e, yield.operands[i], args[i]);
  for (const auto& [i, from] : staged) {
    const ir::Type& type = e.type(yield.operands[i]);
    V into = e.buffer_address(e.plan().buffer[args[i].index]);
    V copy = from;
    e.for_chunks(type.shape, kChunk, [&](const Index& index) {
      e.write_buffer(into, type, index, e.read_buffer(copy, type, index));
    });
  }
}

// The number of iterations, as i64. In exact arithmetic: bounds may be far apart, and adding the
// step to the counter past the end must not wrap.
V trip_count(Emitter& e, const OpNode& op) {
  const ir::Type& type = e.type(op.operands[0]);
  bool is_signed_type = is_signed(type.dtype);
  V element = register_type(type);
  V wide = dtype_bits(type.dtype) == 64 ? "i128" : "i64";
  Calc narrow(e, element, 1), c(e, wide, 1);
  auto widen = [&](size_t i) {
    return narrow.convert(is_signed_type ? "sext" : "zext", e.scalar(op.operands[i]), wide);
  };
  V lo = widen(0), hi = widen(1), step = widen(2);
  V up = c.icmp("sgt", step, c.ci(0));
  V distance = c.select(up, c.sub(hi, lo), c.sub(lo, hi));
  V size = c.select(up, step, c.sub(c.ci(0), step));
  V count = c.op("sdiv", c.add(distance, c.sub(size, c.ci(1))), size);
  count = c.select(c.icmp("sgt", distance, c.ci(0)), count, c.ci(0));
  return wide == "i64" ? count : c.convert("trunc", count, "i64");
}

bool has_constant_step(Emitter& e, const OpNode& op) {
  const OpNode* step = e.module.def(op.operands[2]);
  return step && step->op == ir::Op::Const && step->attrs.get_int("value") != 0;
}

}  // namespace

void emit_For(Emitter& e, const OpNode& op) {
  const ir::Region& body = e.module.region(op.regions[0]);
  const ir::Type& counter = e.type(op.operands[0]);
  V element = register_type(counter);
  if (!has_constant_step(e, op)) {
    V zero = e.text.let(fmt::format("icmp eq {} {}, 0", element, e.scalar(op.operands[2])));
    e.fail_if(zero,
              {DiagKind::kBadLoopStep, "the step of the loop is zero", false, op.span, "for"});
  }
  std::vector<ValueId> args(body.args.begin() + 1, body.args.end());
  Slots slots(e, op.results);
  for (size_t i = 0; i < args.size(); ++i) {
    slots.write(i, op.operands[i + 3]);
    if (e.type(args[i]).is_tile()) copy_into(e, op.operands[i + 3], args[i]);
  }
  V count = trip_count(e, op);
  V header = e.text.fresh_label("for"), inside = e.text.fresh_label("body");
  V exit = e.text.fresh_label("end"), latch = e.text.fresh_label("step");
  V before = e.text.current_block(), i = e.text.fresh(), next = e.text.fresh();
  e.text.branch(header);
  e.text.start_block(header);
  e.text.let_as(i, fmt::format("phi i64 [ 0, %{} ], [ {}, %{} ]", before, next, latch));
  e.text.branch_if(e.text.let(fmt::format("icmp slt i64 {}, {}", i, count)), inside, exit);
  e.text.start_block(inside);
  Calc c(e, element, 1);
  V index = element == "i64" ? i : Calc(e, "i64", 1).convert("trunc", i, element);
  e.set_scalar(body.args[0],
               c.add(e.scalar(op.operands[0]), c.mul(index, e.scalar(op.operands[2]))));
  for (size_t k = 0; k < args.size(); ++k) slots.read(k, args[k]);
  e.emit_region(op.regions[0]);
  const OpNode& yield = e.module.op(body.ops.back());
  pass_yielded(e, body.ops.back(), args);
  for (size_t k = 0; k < args.size(); ++k) slots.write(k, yield.operands[k]);
  e.text.branch(latch);
  e.text.start_block(latch);
  e.text.let_as(next, fmt::format("add nuw nsw i64 {}, 1", i));
  e.text.branch(header);
  e.text.start_block(exit);
  for (size_t k = 0; k < op.results.size(); ++k) slots.read(k, op.results[k]);
}

void emit_While(Emitter& e, const OpNode& op) {
  const ir::Region& test = e.module.region(op.regions[0]);
  const ir::Region& body = e.module.region(op.regions[1]);
  Slots carried(e, op.results), passed(e, op.results);
  for (size_t i = 0; i < op.operands.size(); ++i) {
    carried.write(i, op.operands[i]);
    if (e.type(op.operands[i]).is_tile()) copy_into(e, op.operands[i], test.args[i]);
  }
  V header = e.text.fresh_label("while"), inside = e.text.fresh_label("body");
  V exit = e.text.fresh_label("end");
  e.text.branch(header);
  e.text.start_block(header);
  for (size_t i = 0; i < test.args.size(); ++i) carried.read(i, test.args[i]);
  e.emit_region(op.regions[0]);
  const OpNode& condition = e.module.op(test.ops.back());
  for (size_t i = 0; i < body.args.size(); ++i) {
    passed.write(i, condition.operands[i + 1]);
    if (e.type(body.args[i]).is_tile()) copy_into(e, condition.operands[i + 1], body.args[i]);
  }
  e.text.branch_if(e.scalar(condition.operands[0]), inside, exit);
  e.text.start_block(inside);
  for (size_t i = 0; i < body.args.size(); ++i) passed.read(i, body.args[i]);
  e.emit_region(op.regions[1]);
  const OpNode& yield = e.module.op(body.ops.back());
  for (size_t i = 0; i < yield.operands.size(); ++i) {
    carried.write(i, yield.operands[i]);
    if (e.type(test.args[i]).is_tile()) copy_into(e, yield.operands[i], test.args[i]);
  }
  e.text.branch(header);
  e.text.start_block(exit);
  for (size_t i = 0; i < op.results.size(); ++i) passed.read(i, op.results[i]);
}

void emit_If(Emitter& e, const OpNode& op) {
  Slots slots(e, op.results);
  V yes = e.text.fresh_label("then"), no = e.text.fresh_label("else");
  V done = e.text.fresh_label("endif");
  e.text.branch_if(e.scalar(op.operands[0]), yes, no);
  for (size_t branch = 0; branch < 2; ++branch) {
    e.text.start_block(branch == 0 ? yes : no);
    ir::RegionId region = op.regions[branch];
    e.emit_region(region);
    const OpNode& yield = e.module.op(e.module.region(region).ops.back());
    for (size_t i = 0; i < op.results.size(); ++i) {
      slots.write(i, yield.operands[i]);
      if (e.type(op.results[i]).is_tile()) copy_into(e, yield.operands[i], op.results[i]);
    }
    e.text.branch(done);
  }
  e.text.start_block(done);
  for (size_t i = 0; i < op.results.size(); ++i) slots.read(i, op.results[i]);
}

// What the owner of the region does with the values is its own matter.
void emit_Yield(Emitter&, const OpNode&) {}
void emit_Condition(Emitter&, const OpNode&) {}

void emit_Return(Emitter& e, const OpNode&) {
  e.text.line("ret i64 0");
}

}  // namespace tilewright::cpu
