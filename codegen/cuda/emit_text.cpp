#include "codegen/cuda/emit_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <limits>

#include "dsl/base/check.h"
#include "dsl/base/numeric.h"

namespace tilewright::cuda {

// ---- Writer ----

void Writer::line(std::string_view text) {
  out_ += before_each_;
  out_.append(static_cast<size_t>(depth_) * 2, ' ');
  out_ += text;
  out_ += '\n';
}

void Writer::open(std::string_view text) {
  bool spaced = !text.empty() && text.back() != ' ';
  line(std::string(text) + (spaced ? " {" : "{"));
  ++depth_;
}

void Writer::close(std::string_view text) {
  --depth_;
  line(text);
}

// ---- Names ----

namespace {

// Words that a name of the source must not become. Prelude functions begin with tw_ and are not
// listed; such hints get a trailing underscore as well.
constexpr std::string_view kReserved[] = {
    "alignas",   "alignof",  "and",      "and_eq",   "asm",       "auto",      "bf16",
    "bitand",    "bitor",    "blockDim", "blockIdx", "bool",      "break",     "case",
    "catch",     "char",     "class",    "compl",    "const",     "constexpr", "continue",
    "decltype",  "default",  "delete",   "do",       "double",    "else",      "enum",
    "explicit",  "export",   "extern",   "f16",      "f32",       "f64",       "f8e4m3",
    "f8e5m2",    "false",    "float",    "for",      "friend",    "goto",      "gridDim",
    "i16",       "i32",      "i64",      "i8",       "if",        "inline",    "int",
    "lane",      "long",     "main",     "mutable",  "namespace", "new",       "noexcept",
    "not",       "not_eq",   "nullptr",  "operator", "or",        "or_eq",     "private",
    "protected", "public",   "register", "requires", "return",    "short",     "signed",
    "sizeof",    "static",   "struct",   "switch",   "template",  "this",      "threadIdx",
    "throw",     "true",     "try",      "typedef",  "typeid",    "typename",  "u16",
    "u32",       "u64",      "u8",       "union",    "unsigned",  "using",     "virtual",
    "void",      "volatile", "warp",     "warpSize", "while",     "xor",       "xor_eq",
    "concept",   "memcpy",   "memset",   "printf",   "malloc",    "free"};

std::string identifier(std::string_view hint) {
  std::string name;
  for (char c : hint) {
    bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    bool digit = c >= '0' && c <= '9';
    if (digit && name.empty()) name += 'v';
    name += letter || digit ? c : '_';
  }
  if (name.empty() || name == "_") name = "v";
  bool reserved =
      std::find(std::begin(kReserved), std::end(kReserved), name) != std::end(kReserved);
  // Some letters name the index variables of unrolled loops; TW_ and tw_ belong to the prelude, a
  // leading underscore to the compiler.
  constexpr std::string_view kLoopVariables = "bcijkmnstwz";
  bool loop = name.size() == 1 && kLoopVariables.find(name[0]) != kLoopVariables.npos;
  if (loop || name.starts_with("tw_") || name.starts_with("TW_") || name.starts_with("_") ||
      reserved)
    name = (name.starts_with("_") ? "v" : "") + name + "_";
  return name;
}

}  // namespace

std::string Names::fresh(std::string_view hint) {
  std::string name = identifier(hint);
  auto [it, added] = used_.emplace(name, 1);
  if (added) return name;
  std::string candidate;
  do {
    candidate = name + (std::isdigit(static_cast<unsigned char>(name.back())) ? "_" : "") +
                std::to_string(++it->second);
  } while (used_.contains(candidate));
  used_.emplace(candidate, 1);
  return candidate;
}

// ---- types and literals ----

std::string type_name(Dtype dtype) {
  return dtype == Dtype::kI1 ? "bool" : std::string(dtype_name(dtype));
}

std::string type_name(const ir::Type& type) {
  return type.is_pointer ? "u64" : type_name(type.dtype);
}

std::string int_literal(Dtype dtype, int64_t value) {
  switch (dtype) {
    case Dtype::kI1:
      return value != 0 ? "true" : "false";
    case Dtype::kI32: {
      auto v = static_cast<int32_t>(value);
      return v == std::numeric_limits<int32_t>::min() ? "(-2147483647 - 1)" : std::to_string(v);
    }
    case Dtype::kI64:
      return value == std::numeric_limits<int64_t>::min() ? "(-9223372036854775807ll - 1)"
                                                          : std::to_string(value) + "ll";
    case Dtype::kU32:
      return std::to_string(static_cast<uint32_t>(value)) + "u";
    case Dtype::kU64:
      return std::to_string(static_cast<uint64_t>(value)) + "ull";
    default:
      return fmt::format("({}){}", dtype_name(dtype),
                         bits_to_int(int_to_bits(value, dtype), dtype));
  }
}

std::string float_literal(Dtype dtype, double value) {
  if (dtype != Dtype::kF32 && dtype != Dtype::kF64)
    return fmt::format("{}{{{:#x}}}", dtype_name(dtype), float_to_bits(value, dtype));
  bool single = dtype == Dtype::kF32;
  if (single) value = static_cast<float>(value);
  if (!std::isfinite(value)) {
    return single ? fmt::format("tw_bitcast<f32>({:#x}u)", float_to_bits(value, dtype))
                  : fmt::format("tw_bitcast<f64>({:#x}ull)", float_to_bits(value, dtype));
  }
  std::string text =
      single ? fmt::format("{}", static_cast<float>(value)) : fmt::format("{}", value);
  if (text.find_first_of(".e") == text.npos) text += ".0";
  if (single) text += "f";
  return std::signbit(value) ? "(" + text + ")" : text;
}

// ---- index maps ----

uint32_t reach(const std::vector<uint32_t>& columns) {
  uint32_t bits = 0;
  for (uint32_t column : columns) bits |= column;
  return bits;
}

std::optional<std::vector<uint32_t>> affine_columns(const std::vector<uint32_t>& table) {
  TW_CHECK(std::has_single_bit(table.size()), "an affine table has 2^n entries");
  std::vector<uint32_t> columns;
  for (size_t bit = 1; bit < table.size(); bit *= 2) columns.push_back(table[bit] ^ table[0]);
  for (size_t i = 0; i < table.size(); ++i) {
    uint32_t value = table[0];
    for (size_t b = 0; b < columns.size(); ++b)
      if (i >> b & 1) value ^= columns[b];
    if (value != table[i]) return std::nullopt;
  }
  return columns;
}

namespace {

// One run of consecutive bits of a variable that map to consecutive bits, or a single bit.
std::string run_text(const LinearTerm& term, size_t first, size_t length) {
  bool to_top = first + length == term.columns.size();
  uint32_t mask = static_cast<uint32_t>((uint64_t{1} << length) - 1), scale = term.columns[first];
  std::string text = term.variable;
  if (first > 0) text += fmt::format(" >> {}", first);
  if (!to_top) text += fmt::format(" & {}", mask);
  bool compound = text != term.variable;
  if (scale == 1) return compound ? "(" + text + ")" : text;
  return fmt::format("{} * {}", compound ? "(" + text + ")" : text, scale);
}

}  // namespace

std::string linear_expression(const std::vector<LinearTerm>& terms, uint32_t constant) {
  std::string text;
  uint32_t seen = 0;
  bool overlap = false;
  std::vector<std::string> parts;
  auto add = [&](std::string part, uint32_t bits) {
    overlap = overlap || (seen & bits) != 0;
    seen |= bits;
    parts.push_back(std::move(part));
  };
  for (const LinearTerm& term : terms) {
    const auto& columns = term.columns;
    for (size_t i = 0; i < columns.size();) {
      size_t length = 1;
      if (columns[i] == 0) {
        ++i;
        continue;
      }
      while (std::has_single_bit(columns[i]) && i + length < columns.size() &&
             columns[i + length] == columns[i] << length)
        ++length;
      uint32_t bits = 0;
      for (size_t b = 0; b < length; ++b) bits |= columns[i + b];
      add(run_text(term, i, length), bits);
      i += length;
    }
  }
  if (constant != 0 || parts.empty()) add(std::to_string(constant), constant);
  for (const std::string& part : parts) {
    if (!text.empty()) text += overlap ? " ^ " : " + ";
    bool product = overlap && part.find(' ') != part.npos && part.front() != '(';
    text += product ? "(" + part + ")" : part;
  }
  return overlap ? "(" + text + ")" : text;
}

}  // namespace tilewright::cuda
