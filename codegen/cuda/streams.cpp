#include "codegen/cuda/streams.h"

#include <map>
#include <set>
#include <vector>

#include "codegen/schedule/pointer_roots.h"

namespace tilewright::cuda {
namespace {

using ir::Op;
using ir::OpId;
using ir::OpNode;
using ir::ValueId;

// Whether a value follows from the program's number.
bool is_of_program(const ir::Module& module, ValueId value, std::set<ValueId>& seen) {
  if (!seen.insert(value).second) return false;
  const ir::Value& v = module.value(value);
  OpId from = v.def.valid() ? v.def : v.region.valid() ? module.region(v.region).parent : OpId{};
  if (!from.valid()) return false;
  const OpNode& op = module.op(from);
  if (op.op == Op::ProgramId) return true;
  for (ValueId operand : op.operands)
    if (is_of_program(module, operand, seen)) return true;
  return false;
}

bool writes_tiles(const ir::Module& module, const OpNode& op) {
  if (op.op == Op::Dot) return true;  // tiles of operands are read by several programs
  if (op.op != Op::Store && op.op != Op::AtomicRmw && op.op != Op::AtomicCas) return false;
  return module.type(op.operands[0]).is_tile();
}

}  // namespace

void mark_streams(ir::Module& module) {
  schedule::PointerRoots roots(module);
  std::map<uint32_t, int> loads_of;  // of tiles, by pointer argument
  std::vector<OpId> loads;
  bool writes = false;
  ir::walk(module, module.body, [&](OpId id) {
    const OpNode& op = module.op(id);
    writes |= writes_tiles(module, op);
    if (op.op != Op::Load || !module.type(op.operands[0]).is_tile()) return;
    loads.push_back(id);
    for (uint32_t argument : roots.of(op.operands[0]).arguments) ++loads_of[argument];
  });
  if (writes) return;
  for (OpId id : loads) {
    OpNode& op = module.op(id);
    if (op.attrs.find("cache") || op.attrs.find("evict") || op.attrs.get_int("volatile") != 0)
      continue;
    const schedule::Roots from = roots.of(op.operands[0]);
    bool again = from.unknown;
    for (uint32_t argument : from.arguments) again |= loads_of[argument] > 1;
    std::set<ValueId> seen;
    if (!again && is_of_program(module, op.operands[0], seen))
      op.attrs.set("cache", std::string("cs"));
  }
}

}  // namespace tilewright::cuda
