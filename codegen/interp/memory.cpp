// Loads, stores and atomics. Elements are accessed in row-major order, one after another, so that
// among stores to one address the last element wins here; kernels may not rely on it.
#include "codegen/interp/machine.h"
#include "dsl/base/check.h"

namespace tilewright::interp {
namespace {

bool enabled(const Machine& machine, const ir::OpNode& op, size_t mask_operand, size_t i) {
  if (op.operands.size() <= mask_operand) return true;
  const Tile& mask = machine.get(op.operands[mask_operand]);
  return mask[mask.size() == 1 ? 0 : i] != 0;
}

// Sign-magnitude images as an order of unsigned numbers: -NaN < -inf < … < -0 < +0 < … < NaN.
// This is what integer atomics on the image of a float amount to.
uint64_t total_order(uint64_t bits, Dtype dtype) {
  uint64_t sign = uint64_t{1} << (dtype_bits(dtype) - 1);
  return bits & sign ? (~bits & (sign | (sign - 1))) : bits | sign;
}

bool less(uint64_t a, uint64_t b, Dtype dtype) {
  if (is_float(dtype)) return total_order(a, dtype) < total_order(b, dtype);
  if (is_signed(dtype)) return bits_to_int(a, dtype) < bits_to_int(b, dtype);
  return a < b;
}

uint64_t combine(std::string_view what, uint64_t old, uint64_t value, Dtype dtype) {
  if (what == "add") {
    Element e;
    e.type = dtype;
    uint64_t x[] = {old, value};
    return eval_Add(e, x);
  }
  if (what == "max") return less(old, value, dtype) ? value : old;
  if (what == "min") return less(value, old, dtype) ? value : old;
  if (what == "and") return old & value;
  if (what == "or") return old | value;
  if (what == "xor") return old ^ value;
  if (what == "xchg") return value;
  TW_UNREACHABLE("unknown atomic operation " + std::string(what));
}

}  // namespace

Status run_Load(Machine& machine, const ir::OpNode& op) {
  Dtype dtype = machine.type(op.operands[0]).dtype;
  const Tile& addresses = machine.get(op.operands[0]);
  Tile tile(addresses.size());
  for (size_t i = 0; i < tile.size(); ++i) {
    if (enabled(machine, op, 1, i)) {
      TW_TRY(machine.read(op, addresses[i], dtype, tile[i]));
    } else if (op.operands.size() > 2) {
      const Tile& other = machine.get(op.operands[2]);
      tile[i] = other[other.size() == 1 ? 0 : i];
    }
  }
  machine.set_result(op, std::move(tile));
  return {};
}

Status run_Store(Machine& machine, const ir::OpNode& op) {
  Dtype dtype = machine.type(op.operands[0]).dtype;
  const Tile& addresses = machine.get(op.operands[0]);
  const Tile& values = machine.get(op.operands[1]);
  for (size_t i = 0; i < addresses.size(); ++i)
    if (enabled(machine, op, 2, i)) TW_TRY(machine.write(op, addresses[i], dtype, values[i]));
  return {};
}

Status run_AtomicRmw(Machine& machine, const ir::OpNode& op) {
  Dtype dtype = machine.type(op.operands[0]).dtype;
  std::string_view what = op.attrs.get_word("op");
  const Tile& addresses = machine.get(op.operands[0]);
  const Tile& values = machine.get(op.operands[1]);
  Tile old(addresses.size());
  for (size_t i = 0; i < old.size(); ++i) {
    if (!enabled(machine, op, 2, i)) continue;
    TW_TRY(machine.read(op, addresses[i], dtype, old[i]));
    TW_TRY(machine.write(op, addresses[i], dtype, combine(what, old[i], values[i], dtype)));
  }
  machine.set_result(op, std::move(old));
  return {};
}

Status run_AtomicCas(Machine& machine, const ir::OpNode& op) {
  Dtype dtype = machine.type(op.operands[0]).dtype;
  const Tile& addresses = machine.get(op.operands[0]);
  const Tile& expected = machine.get(op.operands[1]);
  const Tile& values = machine.get(op.operands[2]);
  Tile old(addresses.size());
  for (size_t i = 0; i < old.size(); ++i) {
    TW_TRY(machine.read(op, addresses[i], dtype, old[i]));
    // Equality of bits: -0 differs from +0, a NaN equals itself.
    if (old[i] == expected[i]) TW_TRY(machine.write(op, addresses[i], dtype, values[i]));
  }
  machine.set_result(op, std::move(old));
  return {};
}

}  // namespace tilewright::interp
