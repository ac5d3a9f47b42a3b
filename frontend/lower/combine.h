// What reductions, scans and other ops across the elements of a tile share.
#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "frontend/lower/lowering.h"

namespace tilewright::frontend {

using Ids = std::vector<ir::ValueId>;
// Builds the region's value from the left and right elements; nothing after a mistake.
using Combine = std::function<std::optional<Ids>(const Ids&, const Ids&)>;

// Emits reduce or scan over the tensors, with results of these types.
std::optional<std::vector<Value>> emit_combining(Lowering& lw, ir::Op op, ir::Attrs attrs,
                                                 const std::vector<Value>& tensors,
                                                 const std::vector<ir::Type>& results,
                                                 const Combine& combine, Span span);

// An argument that must be a tile of numbers.
Value tile_argument(Lowering& lw, const Call& call, const Value& value);

// Argument 0 of a call, a tensor or a tuple of tensors of one shape; `what` for messages.
std::optional<std::vector<Value>> combined_inputs(Lowering& lw, const Call& call,
                                                  std::string_view what);

// Calls the program's function, argument 2 of the call, which must give the types it is given and
// have no effects.
std::optional<Ids> call_combine(Lowering& lw, const Call& call, const Value& function, const Ids& a,
                                const Ids& b);

}  // namespace tilewright::frontend
