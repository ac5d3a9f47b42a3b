// Hints, assumptions, assertions, barriers.
#include <fmt/format.h>

#include "codegen/cuda/emit_ops.h"
#include "codegen/cuda/emitter.h"

namespace tilewright::cuda {

using ir::OpNode;

void emit_Hint(Emitter& e, ir::OpId id) {
  View view = e.use(id, 0);
  e.define(e.module.op(id).results[0], std::move(view));
}

// The text draws no conclusion from an assumption.
void emit_Assume(Emitter&, ir::OpId) {}

void emit_Assert(Emitter& e, ir::OpId id) {
  const OpNode& op = e.module.op(id);
  View cond = e.use(id, 0), mask;
  bool masked = op.operands.size() > 1;
  if (masked) mask = e.use(id, 1);
  std::string message;
  for (char c : op.attrs.get_word("message"))
    message += c == '\n' || c == '\r' || c == '\\' ? ' ' : c;
  e.comment("assert: " + message);
  bool once = cond.uniform && (!masked || mask.uniform);
  const View& shape = cond.uniform && masked ? mask : cond;
  auto check = [&](const std::string& i) {
    return masked ? fmt::format("if ({} && !{}) tw_trap();", mask.at(i), cond.at(i))
                  : fmt::format("if (!{}) tw_trap();", cond.at(i));
  };
  if (once || shape.registers() == 1)
    e.out.line(check("0"));
  else
    e.out.line(fmt::format("TW_EACH(i, {}) {}", shape.registers(), check("i")));
}

void emit_Barrier(Emitter& e, ir::OpId) {
  e.barrier();
}

}  // namespace tilewright::cuda
