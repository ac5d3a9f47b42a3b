// Buffers in shared memory and copies into them, as late as they are allowed to land: a copy is
// queued with its addresses and mask, and reads memory only when a copy_wait demands it. A schedule
// that reads a slot too early, or writes one that may still be read, is an error here.
#include "codegen/interp/machine.h"
#include "dsl/base/check.h"

namespace tilewright::interp {
namespace {

// The slot that an op on a buffer names, or an error.
Status find_slot(Machine& machine, const ir::OpNode& op, SharedSlot*& slot) {
  std::vector<SharedSlot>& slots = machine.shared.buffers[op.operands[0]];
  auto index = bits_to_int(machine.scalar(op.operands[1]), Dtype::kI32);
  if (index < 0 || index >= static_cast<int64_t>(slots.size()))
    return machine.fail(
        op, DiagKind::kSharedOutOfBounds,
        "slot " + std::to_string(index) + " of a buffer of " + std::to_string(slots.size()));
  slot = &slots[static_cast<size_t>(index)];
  return {};
}

// Whether something new may be put into a slot.
Status check_writable(Machine& machine, const ir::OpNode& op, const SharedSlot& slot) {
  std::string_view why = slot.is_read                               ? "may still be read"
                         : slot.state == SharedSlot::State::kCopied ? "has an unfinished copy"
                         : slot.state == SharedSlot::State::kStored ? "was just written"
                                                                    : "";
  if (why.empty()) return {};
  return machine.fail(op, DiagKind::kDataRace,
                      "a slot is written that " + std::string(why) + ", with no barrier between");
}

Status perform(Machine& machine, const SharedCopy& copy) {
  SharedSlot& slot = machine.shared.buffers[copy.buffer][copy.slot];
  Dtype dtype = machine.type(copy.buffer).dtype;
  slot.tile.assign(copy.addresses.size(), 0);
  for (size_t i = 0; i < copy.addresses.size(); ++i)
    if (copy.mask.empty() || copy.mask[i] != 0)
      TW_TRY(machine.read(*copy.op, copy.addresses[i], dtype, slot.tile[i]));
  slot.state = SharedSlot::State::kReady;
  return {};
}

}  // namespace

Status finish_copies(Machine& machine, size_t pending) {
  auto& groups = machine.shared.groups;
  while (groups.size() > pending) {
    for (const SharedCopy& copy : groups.front()) TW_TRY(perform(machine, copy));
    groups.pop_front();
  }
  return {};
}

void meet_at_barrier(Machine& machine) {
  for (auto& [buffer, slots] : machine.shared.buffers)
    for (SharedSlot& slot : slots) {
      slot.is_read = false;
      if (slot.state == SharedSlot::State::kStored) slot.state = SharedSlot::State::kReady;
    }
}

Status run_SharedAlloc(Machine& machine, const ir::OpNode& op) {
  const ir::Type& type = machine.type(op.results[0]);
  machine.shared.buffers[op.results[0]].assign(static_cast<size_t>(type.shape[0]), {});
  return {};
}

Status run_CopyAsync(Machine& machine, const ir::OpNode& op) {
  SharedSlot* slot = nullptr;
  TW_TRY(find_slot(machine, op, slot));
  TW_TRY(check_writable(machine, op, *slot));
  slot->state = SharedSlot::State::kCopied;
  SharedCopy copy{&op, op.operands[0], 0, machine.get(op.operands[2]), {}};
  copy.slot = static_cast<size_t>(machine.scalar(op.operands[1]));
  if (op.operands.size() > 3) copy.mask = machine.get(op.operands[3]);
  machine.shared.open.push_back(std::move(copy));
  return {};
}

Status run_CopyCommit(Machine& machine, const ir::OpNode&) {
  machine.shared.groups.push_back(std::move(machine.shared.open));
  machine.shared.open.clear();
  return {};
}

Status run_CopyWait(Machine& machine, const ir::OpNode& op) {
  TW_TRY(finish_copies(machine, static_cast<size_t>(op.attrs.get_int("pending"))));
  meet_at_barrier(machine);
  return {};
}

Status run_SharedLoad(Machine& machine, const ir::OpNode& op) {
  SharedSlot* slot = nullptr;
  TW_TRY(find_slot(machine, op, slot));
  std::string_view why =
      slot->state == SharedSlot::State::kEmpty    ? "that nothing has written"
      : slot->state == SharedSlot::State::kCopied ? "whose copy no copy_wait has demanded"
      : slot->state == SharedSlot::State::kStored ? "that was written with no barrier since"
                                                  : "";
  if (!why.empty())
    return machine.fail(op, DiagKind::kUninitializedRead, "a slot is read " + std::string(why));
  slot->is_read = true;
  machine.set_result(op, slot->tile);
  return {};
}

Status run_SharedStore(Machine& machine, const ir::OpNode& op) {
  SharedSlot* slot = nullptr;
  TW_TRY(find_slot(machine, op, slot));
  TW_TRY(check_writable(machine, op, *slot));
  slot->state = SharedSlot::State::kStored;
  slot->tile = machine.get(op.operands[2]);
  return {};
}

}  // namespace tilewright::interp
