// Arithmetic on compile-time constants with Python's meaning: `//` and `%` floor, `/` gives a
// float, `**` of a negative exponent gives a float, comparisons mix numbers freely. Integers are
// exact within [-2^63, 2^64); a result outside is an error, never a wrapped number.
#pragma once

#include "dsl/ast.h"
#include "frontend/frontend.h"

namespace tilewright::frontend {

// - + ~ not
Result<Constant> fold_unary(dsl::Operator op, const Constant& x);
// + - * / // % ** & | ^ << >>, the comparisons, is, is not, in, not in. `and` and `or` are control
// flow and belong to the caller.
Result<Constant> fold_binary(dsl::Operator op, const Constant& a, const Constant& b);
// Python's bool(): zero, the empty string, the empty tuple and None are false.
bool truth(const Constant& x);

inline bool is_integer(const Constant& x) {
  return x.kind == Constant::Kind::kInt || x.kind == Constant::Kind::kBool;
}
inline bool is_number(const Constant& x) {
  return is_integer(x) || x.kind == Constant::Kind::kFloat;
}
// The value of a number as a double (rounded to nearest for integers above 2^53).
double as_double(const Constant& number);
// The word that messages use for the constant's Python type: "int", "str", "dtype", …
std::string_view python_type(const Constant& x);

}  // namespace tilewright::frontend
