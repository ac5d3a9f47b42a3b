// Specialisations as text: arguments of the command line, and the key.
#include <fmt/format.h>

#include "frontend/frontend.h"

namespace tilewright::frontend {
namespace {

ErrorInfo bad(std::string_view text, std::string_view why) {
  return make_error(
      DiagKind::kBadArgument, fmt::format("'{}': {}", text, why),
      "write x=*bf16, x=*bf16:16 (address divisible by 16), n=i32, n=i32:16, n=i32=1, or n=None");
}

}  // namespace

Result<Argument> parse_argument(std::string_view text) {
  size_t equals = text.find('=');
  if (equals == text.npos || equals == 0) return bad(text, "an argument is NAME=TYPE");
  Argument argument;
  argument.name = text.substr(0, equals);
  std::string_view type = text.substr(equals + 1);
  if (type == "None") {
    argument.is_constant = true;
    return argument;
  }
  bool is_pointer = type.starts_with('*');
  if (is_pointer) type.remove_prefix(1);
  size_t end = type.find_first_of(":=");
  auto dtype = parse_dtype(type.substr(0, end));
  if (!dtype) return bad(text, fmt::format("'{}' is no dtype", type.substr(0, end)));
  argument.type = is_pointer ? ir::Type::pointer(*dtype) : ir::Type::scalar(*dtype);
  if (end == type.npos) return argument;
  std::string_view rest = type.substr(end + 1);
  if (is_pointer && type[end] == '=')
    return bad(text, "a pointer cannot be specialised to a value");
  if (is_float(*dtype) && !is_pointer) return bad(text, "floats are not specialised");
  if (type[end] == '=') {
    if (rest != "1")
      return bad(text,
                 "run-time integers are specialised to 1 only; pass other values as constants");
    argument.is_constant = true;
    argument.constant = Constant::integer_of(1);
    return argument;
  }
  bool is_class = rest == "16" || (!is_pointer && (rest == "2" || rest == "4" || rest == "8"));
  if (!is_class)
    return bad(text, is_pointer ? "the alignment of a pointer is specialised for 16 only"
                                : "divisibility is specialised for 2, 4, 8 and 16 only");
  argument.divisibility = rest == "16" ? 16 : rest[0] - '0';
  return argument;
}

int64_t divisibility_class(uint64_t value) {
  return value % 16 == 0 ? 16 : static_cast<int64_t>(value & -value);
}

std::string Specialization::key() const {
  std::string out;
  for (const Argument& a : arguments) {
    out += out.empty() ? a.name : " " + a.name;
    if (a.is_constant) {
      out += "=" + to_string(a.constant);
      continue;
    }
    out += ":" + ir::to_string(a.type);
    if (a.divisibility != 1) out += fmt::format(":{}", a.divisibility);
  }
  return out + fmt::format("; warps={} stages={}{}{}{}", num_warps, num_stages,
                           maxnreg > 0 ? fmt::format(" maxnreg={}", maxnreg) : "",
                           fp_fusion ? "" : " no-fusion", debug ? " debug" : "");
}

}  // namespace tilewright::frontend
