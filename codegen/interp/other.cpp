// Hints, assertions, barriers.
#include "codegen/interp/machine.h"

namespace tilewright::interp {

Status run_Hint(Machine& machine, const ir::OpNode& op) {
  machine.set_result(op, machine.get(op.operands[0]));
  return {};
}

// Compilers may use an assumption, so a false one is an error wherever it can be seen.
Status run_Assume(Machine& machine, const ir::OpNode& op) {
  if (machine.scalar(op.operands[0]) != 0) return {};
  return machine.fail(op, DiagKind::kFalseAssumption,
                      "the kernel assumes a condition that is false");
}

Status run_Assert(Machine& machine, const ir::OpNode& op) {
  const Tile& cond = machine.get(op.operands[0]);
  for (size_t i = 0; i < cond.size(); ++i) {
    if (op.operands.size() > 1) {
      const Tile& mask = machine.get(op.operands[1]);
      if (mask[mask.size() == 1 ? 0 : i] == 0) continue;
    }
    if (cond[i] != 0) continue;
    std::string message = "assertion failed: " + std::string(op.attrs.get_word("message"));
    if (cond.size() > 1) message += ", at element " + std::to_string(i);
    return machine.fail(op, DiagKind::kAssertFailed, message);
  }
  return {};
}

// A program instance is one thread here; shared buffers keep book all the same.
Status run_Barrier(Machine& machine, const ir::OpNode&) {
  meet_at_barrier(machine);
  return {};
}

}  // namespace tilewright::interp
