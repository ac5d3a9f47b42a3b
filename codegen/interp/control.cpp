// Regions and how values travel between them.
#include "codegen/interp/machine.h"

namespace tilewright::interp {
namespace {

std::vector<Tile> gather(const Machine& machine, const ir::OpNode& op, size_t first) {
  std::vector<Tile> tiles;
  for (size_t i = first; i < op.operands.size(); ++i) tiles.push_back(machine.get(op.operands[i]));
  return tiles;
}

void set_results(Machine& machine, const ir::OpNode& op, std::vector<Tile> tiles) {
  for (size_t i = 0; i < op.results.size(); ++i) machine.set(op.results[i], std::move(tiles[i]));
}

// Wide enough that no range of 64-bit bounds overflows.
__int128 bound(const Machine& machine, ir::ValueId id) {
  Dtype dtype = machine.type(id).dtype;
  uint64_t bits = machine.scalar(id);
  return dtype == Dtype::kU64 ? static_cast<__int128>(bits)
                              : static_cast<__int128>(bits_to_int(bits, dtype));
}

}  // namespace

Status run_Yield(Machine& machine, const ir::OpNode& op) {
  machine.pass(op, 0);
  return {};
}

Status run_Condition(Machine& machine, const ir::OpNode& op) {
  machine.condition = machine.scalar(op.operands[0]) != 0;
  machine.pass(op, 1);
  return {};
}

// Copies that nothing waited for land at last, so that what they read is checked.
Status run_Return(Machine& machine, const ir::OpNode&) {
  return finish_copies(machine, 0);
}

Status run_For(Machine& machine, const ir::OpNode& op) {
  Dtype dtype = machine.type(op.operands[0]).dtype;
  __int128 lo = bound(machine, op.operands[0]), hi = bound(machine, op.operands[1]);
  __int128 step = bound(machine, op.operands[2]);
  if (step == 0) return machine.fail(op, DiagKind::kBadLoopStep, "the step of the loop is zero");
  std::vector<Tile> carried = gather(machine, op, 3);
  for (__int128 i = lo; step > 0 ? i < hi : i > hi; i += step) {
    carried.insert(carried.begin(), {int_to_bits(static_cast<int64_t>(i), dtype)});
    TW_TRY(machine.run_region(op.regions[0], std::move(carried)));
    carried = machine.take_passed();
  }
  set_results(machine, op, std::move(carried));
  return {};
}

Status run_While(Machine& machine, const ir::OpNode& op) {
  std::vector<Tile> carried = gather(machine, op, 0);
  while (true) {
    TW_TRY(machine.run_region(op.regions[0], std::move(carried)));
    carried = machine.take_passed();
    if (!machine.condition) break;
    TW_TRY(machine.run_region(op.regions[1], std::move(carried)));
    carried = machine.take_passed();
  }
  set_results(machine, op, std::move(carried));
  return {};
}

Status run_If(Machine& machine, const ir::OpNode& op) {
  bool taken = machine.scalar(op.operands[0]) != 0;
  TW_TRY(machine.run_region(op.regions[taken ? 0 : 1], {}));
  set_results(machine, op, machine.take_passed());
  return {};
}

}  // namespace tilewright::interp
