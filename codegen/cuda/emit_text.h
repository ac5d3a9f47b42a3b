// Text building for the emitter: indented lines, unique C++ names, literals, and expressions for
// F2-linear index maps.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/ir/type.h"

namespace tilewright::cuda {

class Writer {
 public:
  explicit Writer(int depth = 1) : depth_(depth) {}
  void line(std::string_view text);
  void open(std::string_view text);  // "text {", then deeper
  void close(std::string_view text = "}");
  void indent() { ++depth_; }
  // A line that goes before each of the following ones, at the margin (#line).
  void before_each(std::string text) { before_each_ = std::move(text); }
  const std::string& text() const { return out_; }

 private:
  std::string out_, before_each_;
  int depth_;
};

// Unique C++ identifiers from hints of the source. Words of C++ and of the prelude are avoided.
class Names {
 public:
  std::string fresh(std::string_view hint);

 private:
  std::map<std::string, int, std::less<>> used_;
};

// The name of a type's element as it is held in a register: f32, bool, u64 for pointers.
std::string type_name(const ir::Type& type);
std::string type_name(Dtype dtype);
// Literals of exactly that type.
std::string int_literal(Dtype dtype, int64_t value);
std::string float_literal(Dtype dtype, double value);

// ---- index maps ----
// XOR of columns[b] for the bits b set in `variable`, which has as many bits as there are columns.
struct LinearTerm {
  std::string variable;
  std::vector<uint32_t> columns;
};
// The XOR of the terms and the constant, written with + where no bits can meet:
// "(i & 3) * 4 + (lane >> 2) + 64". "0" if nothing is left.
std::string linear_expression(const std::vector<LinearTerm>& terms, uint32_t constant = 0);
// The columns of an affine table of 2^n entries (table[i] = table[0] ^ XOR of columns); nullopt if
// it is not affine.
std::optional<std::vector<uint32_t>> affine_columns(const std::vector<uint32_t>& table);
// OR of all columns: the bits a linear map can set.
uint32_t reach(const std::vector<uint32_t>& columns);

}  // namespace tilewright::cuda
