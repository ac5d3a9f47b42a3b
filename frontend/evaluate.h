// Evaluates an expression of constants on the host side: decorator arguments, heuristics' lambdas,
// and the sizes and grids of the command line. No tensors, no statements.
#pragma once

#include <functional>
#include <optional>
#include <string_view>

#include "dsl/ast.h"
#include "frontend/frontend.h"

namespace tilewright::frontend {

// The value of a free name, or nothing when it is not known.
using NameLookup = std::function<std::optional<Constant>(std::string_view name)>;

// Literals, names, tuples and lists (both give tuples), operators with Python's meaning,
// comparisons and chains of them, `and`/`or`/`not`, ternaries, subscripts of tuples by an integer
// and of a name by a string
// (`args['N']` looks up N), dtypes (tl.float16, torch.float16, bf16), and calls of cdiv,
// next_power_of_2, min, max, abs, len, int, float, bool under any module prefix. An error's message
// names what is not known.
Result<Constant> evaluate(const dsl::Expr& expr, const NameLookup& lookup);

// float('inf'), float('-inf'), float('nan'): the text that to_string gives to such constants.
Result<Constant> float_of_text(std::string_view text);

// Parses and evaluates one expression given as text, e.g. "cdiv(n, BLOCK)".
Result<Constant> evaluate_text(std::string_view text, const NameLookup& lookup);

}  // namespace tilewright::frontend
