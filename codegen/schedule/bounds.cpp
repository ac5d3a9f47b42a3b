#include "codegen/schedule/bounds.h"

#include <limits>

#include "dsl/base/numeric.h"

namespace tilewright::schedule {

using ir::Op;
using ir::Type;
using ir::ValueId;

namespace {

Dtype unsigned_of(Dtype dtype) {
  switch (dtype_bits(dtype)) {
    case 8:
      return Dtype::kU8;
    case 16:
      return Dtype::kU16;
    case 32:
      return Dtype::kU32;
    default:
      return Dtype::kU64;
  }
}

ir::Attrs pred(std::string word) {
  return {{"pred", std::move(word)}};
}

}  // namespace

Bounds::Bounds(const Loop& loop, ir::Builder& builder)
    : b_(builder),
      type_(builder.module().type(loop.lo())),
      lo_(loop.lo()),
      hi_(loop.hi()),
      step_(loop.step()),
      constant_(loop.constant_step()),
      down_(constant_ && *constant_ < 0) {}

ValueId Bounds::advance(ValueId index, int count) {
  if (count == 0) return index;
  ValueId distance;
  if (constant_) {
    uint64_t wrapped = int_to_bits(*constant_ * count, type_.dtype);
    distance = b_.constant_int(type_, bits_to_int(wrapped, type_.dtype));
  } else {
    distance = b_.make(Op::Mul, {step_, b_.constant_int(type_, count)});
  }
  return b_.make(Op::Add, {index, distance});
}

// hi - index > count * step, where the index is inside the range: the left side is exact as an
// unsigned number. The right side is too, in 64 bits; a run-time step of 64 bits that would not is
// longer than any range.
ValueId Bounds::exists_after(ValueId index, int count) {
  Type wide = Type::scalar(Dtype::kU64), same = Type::scalar(unsigned_of(type_.dtype));
  ValueId left = down_ ? b_.make(Op::Sub, {index, hi_}) : b_.make(Op::Sub, {hi_, index});
  if (same != type_) left = b_.make_as(Op::Bitcast, same, {left});
  if (constant_) {
    int64_t right = (down_ ? -*constant_ : *constant_) * count;
    int bits = dtype_bits(same.dtype);
    if (bits < 64 && right >> bits != 0) return b_.constant_int(Type::scalar(Dtype::kI1), 0);
    return b_.make(Op::Cmp, {left, b_.constant_int(same, right)}, pred("gt"));
  }
  ValueId step = same == type_ ? step_ : b_.make_as(Op::Bitcast, same, {step_});
  if (same != wide) {
    left = b_.make_as(Op::Cast, wide, {left});
    step = b_.make_as(Op::Cast, wide, {step});
  }
  ValueId right = b_.make(Op::Mul, {step, b_.constant_int(wide, count)});
  ValueId exists = b_.make(Op::Cmp, {left, right}, pred("gt"));
  if (same != wide) return exists;
  int64_t limit = std::numeric_limits<int64_t>::max() / count;
  ValueId fits = b_.make(Op::Cmp, {step, b_.constant_int(wide, limit)}, pred("le"));
  return b_.make(Op::And, {exists, fits});
}

ValueId Bounds::exists(int count) {
  ValueId first = b_.make(Op::Cmp, {lo_, hi_}, pred(down_ ? "gt" : "lt"));
  return count == 0 ? first : b_.make(Op::And, {first, exists_after(lo_, count)});
}

}  // namespace tilewright::schedule
