// The table of builtins (builtins.def) as data: look-up by name, parameters, and the spelling of
// module paths. Knows nothing of the IR; lowering dispatches on `handler`.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/frontend.h"

namespace tilewright::frontend {

struct Builtin {
  enum class Kind : uint8_t { kLowered, kLibrary, kAlias, kUnsupported, kDialect };
  Kind kind;
  std::string_view name;
  std::string_view parameters;  // as in builtins.def
  std::string_view handler;     // kLowered: lower_<handler>; kLibrary: function of library.py;
                                // kAlias: the target's name
  std::string_view detail;
  std::string_view doc;
};

struct BuiltinParam {
  std::string_view name;
  std::optional<Constant> default_value;
  bool variadic = false;  // takes the remaining positional arguments as a tuple
};

// All rows, aliases included, in table order.
std::span<const Builtin> all_builtins();

// The row of a canonical name ("tl.load", "libdevice.tanh", "range", "tensor.to"), aliases
// followed; null when the name is not Triton's.
const Builtin* find_builtin(std::string_view name);

// The parameters of a row, parsed once.
const std::vector<BuiltinParam>& builtin_params(const Builtin& builtin);

// Canonical name of a dotted path as written after imports are resolved: triton.language -> tl,
// triton.language.extra.cuda.libdevice and tl.math.<libdevice name> -> libdevice…, tl.core.x,
// tl.standard.x, tl.random.x -> tl.x.
std::string canonical_name(std::string_view dotted);

// Names that stand for values instead of functions: dtypes (tl.float32), tl.PropagateNan.ALL (a
// string), tl.TRITON_MAX_TENSOR_NUMEL, math.pi, math.inf.
std::optional<Constant> builtin_constant(std::string_view name);
// Names used in annotations and isinstance only: tl.tensor, tl.dtype, int, float, bool, str, …
bool is_builtin_class(std::string_view name);
// Canonical names of modules: tl, tl.math, libdevice, triton, math, tl.extra, tl.extra.cuda, …
bool is_builtin_module(std::string_view name);

// The dialect's row if the dotted path belongs to one, else null.
const Builtin* find_dialect(std::string_view dotted);

// The table as a Markdown page (BUILTINS.md): what is supported, and what is refused.
std::string builtins_page();

// The known name of the same module that is nearest to a misspelt one, or "".
std::string_view nearest_builtin(std::string_view name);

}  // namespace tilewright::frontend
