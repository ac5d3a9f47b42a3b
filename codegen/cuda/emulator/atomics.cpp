#include "codegen/cuda/emulator/atomics.h"

#include <algorithm>
#include <bit>

#include "dsl/base/check.h"
#include "dsl/base/numeric.h"

namespace tilewright::cuda {
namespace {

uint64_t add(tw_atomic_type type, uint64_t a, uint64_t b) {
  switch (type) {
    case kTwF16:
    case kTwBf16: {
      Dtype dtype = type == kTwF16 ? Dtype::kF16 : Dtype::kBF16;
      return float_to_bits(bits_to_float(a, dtype) + bits_to_float(b, dtype), dtype);
    }
    case kTwF32:
      return std::bit_cast<uint32_t>(std::bit_cast<float>(static_cast<uint32_t>(a)) +
                                     std::bit_cast<float>(static_cast<uint32_t>(b)));
    case kTwF64:
      return std::bit_cast<uint64_t>(std::bit_cast<double>(a) + std::bit_cast<double>(b));
    default:
      return a + b;
  }
}

bool less(tw_atomic_type type, uint64_t a, uint64_t b) {
  switch (type) {
    case kTwI32:
      return static_cast<int32_t>(a) < static_cast<int32_t>(b);
    case kTwI64:
      return static_cast<int64_t>(a) < static_cast<int64_t>(b);
    default:
      return a < b;
  }
}

uint64_t combine(tw_atomic_op op, tw_atomic_type type, uint64_t old, uint64_t value,
                 uint64_t expected) {
  switch (op) {
    case kTwAdd:
      return add(type, old, value);
    case kTwMin:
      return less(type, value, old) ? value : old;
    case kTwMax:
      return less(type, old, value) ? value : old;
    case kTwAnd:
      return old & value;
    case kTwOr:
      return old | value;
    case kTwXor:
      return old ^ value;
    case kTwExchange:
      return value;
    case kTwCompareSwap:
      return old == expected ? value : old;
  }
  TW_UNREACHABLE("atomic operation");
}

template <class Word>
uint64_t update(tw_atomic_op op, tw_atomic_type type, uint64_t address, uint64_t value,
                uint64_t expected) {
  auto* place = reinterpret_cast<Word*>(address);
  Word old = __atomic_load_n(place, __ATOMIC_SEQ_CST);
  Word next = 0;
  do {
    next = static_cast<Word>(combine(op, type, old, value, expected));
  } while (
      !__atomic_compare_exchange_n(place, &old, next, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
  return old;
}

}  // namespace

uint32_t atomic_bytes(tw_atomic_type type) {
  switch (type) {
    case kTwU16:
    case kTwF16:
    case kTwBf16:
      return 2;
    case kTwI64:
    case kTwU64:
    case kTwF64:
      return 8;
    default:
      return 4;
  }
}

uint64_t atomic_update(tw_atomic_op op, tw_atomic_type type, uint64_t address, uint64_t value,
                       uint64_t expected) {
  switch (atomic_bytes(type)) {
    case 2:
      return update<uint16_t>(op, type, address, value, expected);
    case 4:
      return update<uint32_t>(op, type, address, value, expected);
    default:
      return update<uint64_t>(op, type, address, value, expected);
  }
}

}  // namespace tilewright::cuda
