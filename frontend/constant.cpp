// Constants as values and as text.
#include <fmt/format.h>

#include <cmath>

#include "dsl/base/check.h"
#include "frontend/evaluate.h"
#include "frontend/frontend.h"

namespace tilewright::frontend {

Constant Constant::boolean(bool value) {
  Constant c;
  c.kind = Kind::kBool;
  c.integer = value;
  return c;
}

Constant Constant::integer_of(int64_t value) {
  Constant c;
  c.kind = Kind::kInt;
  c.integer = value;
  return c;
}

Constant Constant::real(double value) {
  Constant c;
  c.kind = Kind::kFloat;
  c.number = value;
  return c;
}

Constant Constant::string(std::string value) {
  Constant c;
  c.kind = Kind::kString;
  c.text = std::move(value);
  return c;
}

Constant Constant::type(Dtype value) {
  Constant c;
  c.kind = Kind::kDtype;
  c.dtype = value;
  return c;
}

namespace {

// Python's repr of a string with the quotes and escapes that matter.
std::string quoted(const std::string& text) {
  std::string out = "'";
  for (char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    if (c == '\n')
      out += "\\n";
    else
      out += c;
  }
  return out + "'";
}

// The shortest text that reads back as the same float, with a point so that 1.0 is not 1.
std::string float_text(double value) {
  if (std::isnan(value)) return "float('nan')";
  if (std::isinf(value)) return value > 0 ? "float('inf')" : "-float('inf')";
  std::string text = fmt::format("{}", value);
  return text.find_first_of(".e") == text.npos ? text + ".0" : text;
}

}  // namespace

std::string to_string(const Constant& c) {
  switch (c.kind) {
    case Constant::Kind::kNone:
      return "None";
    case Constant::Kind::kBool:
      return c.integer ? "True" : "False";
    case Constant::Kind::kInt:
      return c.is_unsigned ? std::to_string(static_cast<uint64_t>(c.integer))
                           : std::to_string(c.integer);
    case Constant::Kind::kFloat:
      return float_text(c.number);
    case Constant::Kind::kString:
      return quoted(c.text);
    case Constant::Kind::kDtype:
      return std::string(dtype_name(c.dtype));
    case Constant::Kind::kFunction:
      return c.text;
    case Constant::Kind::kTuple: {
      std::string out = "(";
      for (size_t i = 0; i < c.elements.size(); ++i)
        out += (i ? ", " : "") + to_string(c.elements[i]);
      return out + (c.elements.size() == 1 ? ",)" : ")");
    }
  }
  TW_UNREACHABLE("constant of unknown kind");
}

Result<Constant> parse_constant(std::string_view text) {
  bool is_word = !text.empty() && !(text[0] >= '0' && text[0] <= '9');
  for (char c : text) is_word &= std::isalnum(static_cast<unsigned char>(c)) || c == '_';
  auto value = evaluate_text(text, [](std::string_view) { return std::nullopt; });
  if (!value && is_word) return Constant::string(std::string(text));
  if (!value)
    return make_error(
        DiagKind::kBadArgument,
        fmt::format("'{}' is not a constant: {}", text, value.error().message),
        "write a number, True, None, a dtype such as bf16, a word, or a tuple of these");
  return value;
}

}  // namespace tilewright::frontend
