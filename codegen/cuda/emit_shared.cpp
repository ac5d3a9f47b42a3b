// Buffers in shared memory and copies into them.
#include "codegen/cuda/emit_ops.h"
#include "codegen/cuda/emitter.h"

namespace tilewright::cuda {
namespace {

void refuse(Emitter& e, ir::OpId id) {
  std::string name(ir::op_info(e.module.op(id).op).mnemonic);
  e.fail(make_error(DiagKind::kInternal, "there is no CUDA text for " + name));
}

}  // namespace

void emit_SharedAlloc(Emitter& e, ir::OpId id) {
  refuse(e, id);
}
void emit_CopyAsync(Emitter& e, ir::OpId id) {
  refuse(e, id);
}
void emit_CopyCommit(Emitter& e, ir::OpId id) {
  refuse(e, id);
}
void emit_CopyWait(Emitter& e, ir::OpId id) {
  refuse(e, id);
}
void emit_SharedLoad(Emitter& e, ir::OpId id) {
  refuse(e, id);
}
void emit_SharedStore(Emitter& e, ir::OpId id) {
  refuse(e, id);
}

}  // namespace tilewright::cuda
