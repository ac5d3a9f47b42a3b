#include "codegen/cpu/text.h"

#include <fmt/format.h>

#include <bit>

#include "dsl/base/check.h"

namespace tilewright::cpu {

std::string Text::fresh() {
  return "%v" + std::to_string(next_value_++);
}

void Text::line(std::string_view instruction) {
  body_ += "  ";
  body_ += instruction;
  body_ += location_;
  body_ += '\n';
}

void Text::let_as(const std::string& name, std::string_view rhs) {
  body_ += "  ";
  body_ += name;
  body_ += " = ";
  body_ += rhs;
  body_ += location_;
  body_ += '\n';
}

std::string Text::let(std::string_view rhs) {
  std::string name = fresh();
  let_as(name, rhs);
  return name;
}

std::string Text::let_in_entry(std::string_view rhs) {
  std::string name = fresh();
  entry_ += "  " + name + " = ";
  entry_ += rhs;
  entry_ += '\n';
  return name;
}

std::string Text::fresh_label(std::string_view stem) {
  return std::string(stem) + "." + std::to_string(next_label_++);
}

void Text::start_block(const std::string& label) {
  body_ += label + ":\n";
  block_ = label;
}

void Text::branch(const std::string& label) {
  line("br label %" + label);
}

void Text::branch_if(const std::string& condition, const std::string& yes, const std::string& no) {
  line(fmt::format("br i1 {}, label %{}, label %{}", condition, yes, no));
}

std::string vector_type(std::string_view scalar_type, int width) {
  return width == 1 ? std::string(scalar_type) : fmt::format("<{} x {}>", width, scalar_type);
}

std::string splat_constant(std::string_view scalar_type, std::string_view constant, int width) {
  if (width == 1) return std::string(constant);
  std::string out = "<";
  for (int i = 0; i < width; ++i) {
    out += i ? ", " : "";
    out += scalar_type;
    out += ' ';
    out += constant;
  }
  return out + ">";
}

std::string vector_constant(std::string_view scalar_type, const std::vector<int64_t>& lanes) {
  if (lanes.size() == 1) return std::to_string(lanes[0]);
  std::string out = "<";
  for (size_t i = 0; i < lanes.size(); ++i) {
    out += i ? ", " : "";
    out += scalar_type;
    out += ' ' + std::to_string(lanes[i]);
  }
  return out + ">";
}

std::string float_constant(double value) {
  return fmt::format("0x{:016X}", std::bit_cast<uint64_t>(value));
}

std::string intrinsic_suffix(std::string_view scalar_type, int width) {
  std::string element;
  if (scalar_type == "float")
    element = "f32";
  else if (scalar_type == "double")
    element = "f64";
  else if (scalar_type == "half")
    element = "f16";
  else if (scalar_type == "ptr")
    element = "p0";
  else
    element = scalar_type;
  TW_CHECK(!element.empty(), "an intrinsic needs a type");
  return width == 1 ? element : "v" + std::to_string(width) + element;
}

}  // namespace tilewright::cpu
