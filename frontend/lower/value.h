// Values of the language during lowering: compile-time things (numbers, strings, None, types,
// functions, modules) and run-time things (tensors, block pointers), and tuples of both.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "frontend/builtins.h"
#include "frontend/frontend.h"

namespace tilewright::frontend {

// A tile of a strided tensor: made by tl.make_block_ptr and tl.make_tensor_descriptor, lowered to
// ordinary pointer arithmetic and masks at each access. All members are scalars of the IR.
struct BlockPointer {
  ir::ValueId base;
  std::vector<ir::ValueId> shape;    // i64
  std::vector<ir::ValueId> strides;  // i64
  std::vector<ir::ValueId> offsets;  // i32 or i64; empty for descriptors
  ir::Shape block;
  Dtype dtype = Dtype::kF32;  // element type
  bool is_descriptor = false;
  bool pad_nan = false;  // descriptors: what reads outside give
};

struct Value {
  enum class Kind : uint8_t {
    kError,         // already reported; every operation on it is silent
    kConstant,      // None, bool, int, float, str
    kTensor,        // id, type
    kTuple,         // elements
    kType,          // type: a dtype, pointer type or block type as a compile-time value
    kFunction,      // function, text = its name, library
    kBuiltin,       // builtin
    kMethod,        // builtin, elements[0] = receiver
    kModule,        // text = canonical dotted path
    kClass,         // text: tl.tensor, int, …
    kScope,         // text: a class of the program, used as a namespace
    kBlockPointer,  // block
  };
  Kind kind = Kind::kError;
  Constant constant;
  ir::ValueId id;
  ir::Type type;
  std::vector<Value> elements;
  const dsl::Stmt* function = nullptr;
  bool library = false;
  const Builtin* builtin = nullptr;
  std::string text;
  std::shared_ptr<const BlockPointer> block;

  static Value error() { return {}; }
  static Value of(Constant constant);
  static Value none() { return of(Constant{}); }
  static Value boolean(bool value);
  static Value integer(int64_t value);
  static Value real(double value);
  static Value string(std::string value);
  static Value of_type(ir::Type type);
  static Value tuple(std::vector<Value> elements);
  static Value tensor(ir::ValueId id, ir::Type type);

  bool is_error() const { return kind == Kind::kError; }
  bool is_tensor() const { return kind == Kind::kTensor; }
  bool is_constant() const { return kind == Kind::kConstant; }
  bool is_none() const { return kind == Kind::kConstant && constant.kind == Constant::Kind::kNone; }
  bool is_string() const {
    return kind == Kind::kConstant && constant.kind == Constant::Kind::kString;
  }
  bool is_number() const;   // a constant bool, int or float
  bool is_integer() const;  // a constant bool or int
  bool is_pointer() const { return kind == Kind::kTensor && type.is_pointer; }
  bool is_tile() const { return kind == Kind::kTensor && type.is_tile(); }
};

// The same compile-time value, or the same run-time values.
bool same_value(const Value& a, const Value& b);
// Triton's spelling of a type: float32, int32[64, 32], pointer<float16>[128].
std::string type_text(const ir::Type& type);
std::string shape_text(const ir::Shape& shape);  // [64, 32]
// What a message calls a value: "float32[64]", "the constant 3", "None", "a tuple of 2".
std::string describe(const Value& value);
// A constant as Python prints it in an f-string; empty optional for run-time values.
std::optional<std::string> constant_text(const Value& value);

// The run-time parts of a value, in order.
void flatten(const Value& value, std::vector<ir::ValueId>& out);
// The value with its run-time parts replaced in order, starting at `position`.
Value unflatten(const Value& like, const std::vector<ir::ValueId>& parts, size_t& position);

}  // namespace tilewright::frontend
