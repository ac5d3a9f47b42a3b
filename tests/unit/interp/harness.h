// Builds one-op kernels and runs them, so that a test reads as a table of operands and results.
#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "codegen/interp/interp.h"
#include "codegen/ir/builder.h"
#include "dsl/base/numeric.h"

namespace tilewright::interp {

using ir::Op;
using ir::Type;

inline constexpr double kInf = std::numeric_limits<double>::infinity();
inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// A typed scalar operand.
struct Scalar {
  Dtype dtype;
  uint64_t bits;
};
inline Scalar num(Dtype dtype, double value) {
  return {dtype, float_to_bits(value, dtype)};
}
inline Scalar integer(Dtype dtype, int64_t value) {
  return {dtype, int_to_bits(value, dtype)};
}

// A kernel under construction: parameters first, then ops, then run().
class KernelBuilder {
 public:
  KernelBuilder() : b(m) {
    m.name = "k";
    m.body = m.add_region({});
    b.set_region(m.body);
  }
  ir::ValueId param(Type type) {
    m.params.push_back({"p" + std::to_string(m.params.size()), 1});
    return m.add_region_arg(m.body, std::move(type));
  }
  Status run(const std::vector<uint64_t>& arguments, std::array<uint32_t, 3> grid = {1, 1, 1},
             Options options = {}) {
    b.set_region(m.body);
    b.make_op(Op::Return, {}, {}, {});
    return interp::run(m, {grid, arguments}, options);
  }

  ir::Module m;
  ir::Builder b;
};

// Runs `op` on scalars and returns the bits of the result, of type `result` or by the type rule.
inline uint64_t eval(Op op, const std::vector<Scalar>& operands, ir::Attrs attrs = {},
                     std::optional<Dtype> result = {}) {
  KernelBuilder k;
  std::vector<ir::ValueId> values;
  std::vector<uint64_t> arguments;
  for (const Scalar& s : operands) {
    values.push_back(k.param(Type::scalar(s.dtype)));
    arguments.push_back(s.bits);
  }
  uint64_t out = 0;
  ir::ValueId pointer = k.param(Type::pointer(result          ? *result
                                              : op == Op::Cmp ? Dtype::kI1
                                                              : operands.back().dtype));
  arguments.push_back(reinterpret_cast<uint64_t>(&out));
  ir::ValueId value = result ? k.b.make_as(op, Type::scalar(*result), values, std::move(attrs))
                             : k.b.make(op, values, std::move(attrs));
  k.b.make_op(Op::Store, {pointer, value}, {}, {});
  k.run(arguments).value();
  return out;
}

inline double eval_float(Op op, const std::vector<Scalar>& operands, ir::Attrs attrs = {}) {
  return bits_to_float(eval(op, operands, std::move(attrs)), operands.back().dtype);
}
inline int64_t eval_int(Op op, const std::vector<Scalar>& operands, ir::Attrs attrs = {}) {
  return bits_to_int(eval(op, operands, std::move(attrs)), operands.back().dtype);
}

inline constexpr Dtype kInts[] = {Dtype::kI8, Dtype::kI16, Dtype::kI32, Dtype::kI64,
                                  Dtype::kU8, Dtype::kU16, Dtype::kU32, Dtype::kU64};
inline constexpr Dtype kFloats[] = {Dtype::kF16, Dtype::kBF16, Dtype::kF32, Dtype::kF64};

}  // namespace tilewright::interp
