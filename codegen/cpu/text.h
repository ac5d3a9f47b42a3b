// LLVM IR as text: one function body under construction, and the spellings of types and constants.
//
// Values are strings ("%v12", "7", "<2 x i32> ..."); whatever does not start with '%' is a
// constant. Every instruction ends with the current debug location, if there is one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tilewright::cpu {

class Text {
 public:
  // Emits "%vN = rhs" and returns "%vN".
  std::string let(std::string_view rhs);
  // The same under a name taken from fresh() before, for uses that precede the definition.
  void let_as(const std::string& name, std::string_view rhs);
  std::string fresh();
  void line(std::string_view instruction);
  // Allocas and addresses of buffers, which belong at the top of the function.
  std::string let_in_entry(std::string_view rhs);

  std::string fresh_label(std::string_view stem);
  // Ends nothing: the block before must have its terminator.
  void start_block(const std::string& label);
  void branch(const std::string& label);
  void branch_if(const std::string& condition, const std::string& yes, const std::string& no);
  const std::string& current_block() const { return block_; }

  // ", !dbg !7", or empty.
  void set_location(std::string suffix) { location_ = std::move(suffix); }
  const std::string& location() const { return location_; }

  std::string entry_text() const { return entry_; }
  std::string body_text() const { return body_; }

 private:
  std::string entry_, body_, block_ = "entry", location_;
  int next_value_ = 0, next_label_ = 0;
};

inline bool is_constant(std::string_view value) {
  return value.empty() || value[0] != '%';
}

// "float" or "<16 x float>".
std::string vector_type(std::string_view scalar_type, int width);
// A constant in every lane; the constant itself when width is 1.
std::string splat_constant(std::string_view scalar_type, std::string_view constant, int width);
std::string vector_constant(std::string_view scalar_type, const std::vector<int64_t>& lanes);
// Exact spelling of a float or double constant: LLVM writes both as the bits of a double.
std::string float_constant(double value);
// Mangling of intrinsics: "v16f32", "f32", "v8p0".
std::string intrinsic_suffix(std::string_view scalar_type, int width);

}  // namespace tilewright::cpu
