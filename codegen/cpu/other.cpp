// Assertions, and ops that ask nothing of a CPU.
#include <fmt/format.h>

#include "codegen/cpu/calc.h"
#include "codegen/cpu/emitter.h"
#include "dsl/base/check.h"

namespace tilewright::cpu {

using ir::OpNode;

namespace {

using V = std::string;

// Index of the first failing element of a chunk, as i64.
V failing_element(Emitter& e, const ir::Shape& shape, const Index& index, const V& bad) {
  I64 base;
  int64_t stride = 1;
  for (size_t d = shape.size(); d-- > 0;) {
    base = e.add(base, e.multiply(index.dims[d].base, stride));
    stride *= shape[d];
  }
  if (index.width == 1) return base.text();
  Calc lanes(e, "i1", index.width);
  std::string image = "i" + std::to_string(index.width);
  V bits = e.text.let(fmt::format("bitcast {} {} to {}", lanes.type(), bad, image));
  e.declare(fmt::format("declare {0} @llvm.cttz.{0}({0}, i1)", image));
  V lane = e.text.let(fmt::format("call {0} @llvm.cttz.{0}({0} {1}, i1 true)", image, bits));
  V wide = e.text.let(
      fmt::format("{} {} {} to i64", index.width == 64 ? "bitcast" : "zext", image, lane));
  return e.text.let(fmt::format("add i64 {}, {}", base.text(), wide));
}

}  // namespace

// The element is computed before the branch; LLVM moves it into the failing path.
void emit_Assert(Emitter& e, const OpNode& op) {
  const ir::Type& type = e.type(op.operands[0]);
  Failure failure{DiagKind::kAssertFailed,
                  "assertion failed: " + std::string(op.attrs.get_word("message")),
                  type.element_count() > 1, op.span, "assert"};
  e.for_chunks(type.shape, kChunk, [&](const Index& index) {
    Calc c(e, "i1", index.width);
    ir::Type boolean = ir::Type::scalar(Dtype::kI1);
    V bad = c.xor_(e.vector(e.lanes(op.operands[0], index), boolean, index.width), c.ci(-1));
    if (op.operands.size() > 1)
      bad = c.and_(bad, e.vector(e.lanes(op.operands[1], index), boolean, index.width));
    V any = bad;
    if (index.width > 1) {
      V function = "@llvm.vector.reduce.or." + intrinsic_suffix("i1", index.width);
      e.declare(fmt::format("declare i1 {}({})", function, c.type()));
      any = e.text.let(fmt::format("call i1 {}({} {})", function, c.type(), bad));
    }
    V element = failure.has_element ? failing_element(e, type.shape, index, bad) : V();
    e.fail_if(any, failure, element);
  });
}

// The author's word; nothing here needs it.
void emit_Assume(Emitter&, const OpNode&) {}

// A program instance runs on one thread, in order.
void emit_Barrier(Emitter&, const OpNode&) {}

#define TW_NOT_A_STATEMENT(name) \
  void emit_##name(Emitter&, const OpNode&) {}
// Evaluated by lanes(): see shape.cpp.
TW_NOT_A_STATEMENT(Const)
TW_NOT_A_STATEMENT(ProgramId)
TW_NOT_A_STATEMENT(NumPrograms)
TW_NOT_A_STATEMENT(Arange)
TW_NOT_A_STATEMENT(Splat)
TW_NOT_A_STATEMENT(Broadcast)
TW_NOT_A_STATEMENT(ExpandDims)
TW_NOT_A_STATEMENT(Reshape)
TW_NOT_A_STATEMENT(Permute)
TW_NOT_A_STATEMENT(Join)
TW_NOT_A_STATEMENT(Split)
TW_NOT_A_STATEMENT(Cat)
TW_NOT_A_STATEMENT(Hint)
#undef TW_NOT_A_STATEMENT

// Scheduled IR is made by the CUDA backend, for itself.
#define TW_SCHEDULED(name)                                                  \
  void emit_##name(Emitter&, const OpNode&) {                               \
    TW_UNREACHABLE("scheduled IR (" #name ") has come to the CPU backend"); \
  }
TW_SCHEDULED(SharedAlloc)
TW_SCHEDULED(CopyAsync)
TW_SCHEDULED(CopyCommit)
TW_SCHEDULED(CopyWait)
TW_SCHEDULED(SharedLoad)
TW_SCHEDULED(SharedStore)
#undef TW_SCHEDULED

}  // namespace tilewright::cpu
