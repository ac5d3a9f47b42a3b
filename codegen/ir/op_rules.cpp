// What each op asks of its operand and result types beyond its type rule. A check returns what is
// wrong, or nothing. Operand counts, attributes and inferred result types hold already.
#include <cstdlib>

#include <optional>

#include "codegen/ir/verifier.h"
#include "dsl/base/numeric.h"

namespace tilewright::ir {
namespace {

struct Query {
  const Module& module;
  const OpNode& node;

  bool has(size_t i) const { return i < node.operands.size(); }
  const Type& type(size_t i) const { return module.type(node.operands[i]); }
  const Type& result() const { return module.type(node.results[0]); }
  std::string name(size_t i) const {
    return "'" + std::string(operand_spec(node.op).name(static_cast<int>(i))) + "'";
  }
  std::string wrong(size_t i, const std::string& wanted) const {
    return name(i) + " must be " + wanted + ", but is " + to_string(type(i));
  }
};

// ---- sets of element types ----

bool is_int_type(const Type& t) {
  return !t.is_pointer && is_int(t.dtype);
}
bool is_arithmetic_float(const Type& t) {
  return !t.is_pointer && is_float(t.dtype) && !is_fp8(t.dtype);
}
bool is_wide_float(const Type& t) {
  return !t.is_pointer && (t.dtype == Dtype::kF32 || t.dtype == Dtype::kF64);
}
bool is_wide_int(const Type& t) {
  return is_int_type(t) && dtype_bits(t.dtype) >= 32;
}
bool is_i1(const Type& t) {
  return !t.is_pointer && t.dtype == Dtype::kI1;
}

enum class Elements { kInt, kFloat, kNumber, kWideFloat, kIntOrWideFloat, kWideInt };

bool belongs(const Type& t, Elements elements) {
  switch (elements) {
    case Elements::kInt:
      return is_int_type(t);
    case Elements::kFloat:
      return is_arithmetic_float(t);
    case Elements::kNumber:
      return is_int_type(t) || is_arithmetic_float(t);
    case Elements::kWideFloat:
      return is_wide_float(t);
    case Elements::kIntOrWideFloat:
      return is_int_type(t) || is_wide_float(t);
    case Elements::kWideInt:
      return is_wide_int(t);
  }
  return false;
}

std::string describe(Elements elements) {
  switch (elements) {
    case Elements::kInt:
      return "integers";
    case Elements::kFloat:
      return "floats of 16 bits or more";
    case Elements::kNumber:
      return "integers, or floats of 16 bits or more";
    case Elements::kWideFloat:
      return "f32 or f64";
    case Elements::kIntOrWideFloat:
      return "integers, f32 or f64";
    case Elements::kWideInt:
      return "integers of 32 or 64 bits";
  }
  return "";
}

// All operands have one type already; its elements must be of a set.
std::string check_elements(const Query& q, Elements elements) {
  return belongs(q.type(0), elements) ? "" : q.wrong(0, describe(elements));
}

// ---- parts shared by several ops ----

std::string check_scalar_i1(const Query& q, size_t i) {
  return q.type(i) == Type::scalar(Dtype::kI1) ? "" : q.wrong(i, "a scalar i1");
}

// A mask of the shape of operand 0.
std::string check_mask(const Query& q, size_t i) {
  if (!q.has(i)) return "";
  Type wanted = Type::tile(Dtype::kI1, q.type(0).shape);
  return q.type(i) == wanted ? "" : q.wrong(i, to_string(wanted));
}

std::string check_pointer(const Query& q) {
  return q.type(0).is_pointer ? "" : q.wrong(0, "a pointer or a tile of pointers");
}

// The operand has the pointee type and the shape of the pointers.
std::string check_pointee(const Query& q, size_t i) {
  if (!q.has(i)) return "";
  Type wanted{q.type(0).dtype, false, q.type(0).shape};
  return q.type(i) == wanted ? "" : q.wrong(i, to_string(wanted));
}

std::string check_same_shape(const Query& q) {
  return q.type(0).shape == q.result().shape
             ? ""
             : "the result is " + to_string(q.result()) + ", but must have the shape of " +
                   to_string(q.type(0));
}

// The first message that is not empty.
std::string first_of(std::initializer_list<std::string> messages) {
  for (const std::string& message : messages)
    if (!message.empty()) return message;
  return "";
}

// ---- sources and shapes ----

std::string check_axis_of_grid(const Query& q) {
  int64_t axis = q.node.attrs.get_int("axis");
  return axis >= 0 && axis <= 2
             ? ""
             : "attribute 'axis' is " + std::to_string(axis) + ", but must be 0, 1 or 2";
}

std::string check_const(const Query& q) {
  const Type& type = q.result();
  const AttrValue& value = *q.node.attrs.find("value");
  const auto* integer = std::get_if<int64_t>(&value);
  bool wants_float = !type.is_pointer && is_float(type.dtype);
  if (wants_float != (integer == nullptr))
    return "a constant of type " + to_string(type.element()) + " needs " +
           (wants_float ? "a float, such as 1.0" : "an integer");
  if (integer && !type.is_pointer &&
      bits_to_int(int_to_bits(*integer, type.dtype), type.dtype) != *integer)
    return "the value " + std::to_string(*integer) + " does not fit " +
           std::string(dtype_name(type.dtype));
  return "";
}

std::string check_splat(const Query& q) {
  if (!q.type(0).is_scalar()) return q.wrong(0, "a scalar");
  if (!q.result().is_tile() || q.result().element() != q.type(0))
    return "the result is " + to_string(q.result()) + ", but must be a tile of " +
           to_string(q.type(0));
  return "";
}

std::string check_broadcast(const Query& q) {
  const Type &from = q.type(0), &to = q.result();
  bool good = from.is_tile() && from.element() == to.element() && from.rank() == to.rank();
  for (int d = 0; good && d < from.rank(); ++d)
    good = from.shape[d] == to.shape[d] || from.shape[d] == 1;
  return good ? ""
              : "cannot stretch unit dimensions of " + to_string(from) + " to " + to_string(to);
}

std::string check_reshape(const Query& q) {
  const Type &from = q.type(0), &to = q.result();
  if (from.is_tile() && to.is_tile() && from.element() == to.element() &&
      from.element_count() == to.element_count())
    return "";
  return to_string(from) + " does not have the elements of " + to_string(to);
}

// ---- element-wise ----

std::string check_cast(const Query& q) {
  const Type &from = q.type(0), &to = q.result();
  if (std::string wrong = check_same_shape(q); !wrong.empty()) return wrong;
  auto is_address = [](const Type& t) {
    return t.is_pointer || t.dtype == Dtype::kI64 || t.dtype == Dtype::kU64;
  };
  if ((from.is_pointer || to.is_pointer) && !(is_address(from) && is_address(to)))
    return "pointers are cast to and from 64-bit integers and pointers only, not " +
           to_string(from.element()) + " to " + to_string(to.element());
  bool floats = !from.is_pointer && !to.is_pointer && is_float(from.dtype) && is_float(to.dtype);
  if (q.node.attrs.get_word("rounding") == "rtz" && !floats)
    return "rounding=rtz is for casts from float to float";
  return "";
}

std::string check_bitcast(const Query& q) {
  if (std::string wrong = check_same_shape(q); !wrong.empty()) return wrong;
  if (q.type(0).element_bits() == q.result().element_bits()) return "";
  return to_string(q.type(0).element()) + " and " + to_string(q.result().element()) +
         " differ in width";
}

std::string check_ptr_add(const Query& q) {
  if (std::string wrong = check_pointer(q); !wrong.empty()) return wrong;
  if (!is_int_type(q.type(1))) return q.wrong(1, describe(Elements::kInt));
  if (q.type(1).shape != q.type(0).shape)
    return q.wrong(1, "of the shape of the pointers, " + to_string(q.type(0)));
  return "";
}

// ---- memory ----

std::string check_atomic_rmw(const Query& q) {
  if (std::string wrong = first_of({check_pointee(q, 1), check_mask(q, 2)}); !wrong.empty())
    return wrong;
  Dtype dtype = q.type(0).dtype;
  std::string_view op = q.node.attrs.get_word("op");
  bool bitwise = op == "and" || op == "or" || op == "xor";
  bool allowed = is_float(dtype) ? (op == "add" && dtype_bits(dtype) >= 16) ||
                                       (!bitwise && dtype_bits(dtype) >= 32)
                                 : dtype_bits(dtype) >= 32;
  return allowed ? ""
                 : "op=" + std::string(op) + " does not work on " + std::string(dtype_name(dtype));
}

std::string check_atomic_cas(const Query& q) {
  if (dtype_bits(q.type(0).dtype) < 16)
    return "works on 16 to 64 bits, not on " + std::string(dtype_name(q.type(0).dtype));
  return first_of({check_pointee(q, 1), check_pointee(q, 2)});
}

// ---- gather, scan, histogram ----

std::string check_numbers(const Query& q) {
  for (size_t i = 0; i < q.node.operands.size(); ++i)
    if (q.type(i).is_pointer) return q.wrong(i, "numbers");
  return "";
}

std::string check_gather(const Query& q) {
  if (q.type(0).is_pointer) return q.wrong(0, "numbers");
  return is_int_type(q.type(1)) && !is_i1(q.type(1)) ? "" : q.wrong(1, describe(Elements::kInt));
}

std::string check_histogram(const Query& q) {
  if (!is_int_type(q.type(0)) || is_i1(q.type(0)) || q.type(0).rank() != 1)
    return q.wrong(0, "a vector of integers");
  return check_mask(q, 1);
}

// ---- matrix ----

bool dot_dtypes_fit(Dtype a, Dtype b, Dtype acc) {
  if (is_fp8(a) && is_fp8(b)) return acc == Dtype::kF32 || acc == Dtype::kF16;
  auto is_byte = [](Dtype dtype) { return dtype == Dtype::kI8 || dtype == Dtype::kU8; };
  if (is_byte(a) && is_byte(b)) return acc == Dtype::kI32;
  if (a != b) return false;
  switch (a) {
    case Dtype::kF16:
      return acc == Dtype::kF32 || acc == Dtype::kF16;
    case Dtype::kBF16:
    case Dtype::kF32:
      return acc == Dtype::kF32;
    case Dtype::kF64:
      return acc == Dtype::kF64;
    default:
      return false;
  }
}

// The places of a sparse operand's values: as many bits for each row as its values take.
std::string check_places(const Query& q) {
  const Type &a = q.type(0), &places = q.type(3);
  int64_t bits = a.dtype == Dtype::kF32 ? 4 : 2;
  bool good = a.rank() == 2 && places.rank() == 2 && is_int_type(places) && !is_i1(places) &&
              dtype_bits(places.dtype) <= 32;
  good = good && places.shape[0] == a.shape[0] &&
         places.shape[1] * dtype_bits(places.dtype) == a.shape[1] * bits;
  if (!good)
    return "the places of " + to_string(a) + " are integers of up to 32 bits with " +
           std::to_string(bits) + " bits for each of its values, not " + to_string(places);
  if (a.dtype == Dtype::kF64 || q.node.attrs.get_int("nibbles", 0) != 0 ||
      q.node.attrs.get_word("precision", "tf32") != "tf32")
    return "there is no sparse product of this form";
  return "";
}

// Scales: one for each 32 (or 16) values along K, for rows of a and columns of b.
std::string check_scaled(const Query& q) {
  const Type &a = q.type(0), &b = q.type(1), &acc = q.type(2);
  auto each = [](const Type& t) { return t.dtype == Dtype::kU8 ? 2 : 1; };
  auto multiplies = [](const Type& t) { return is_fp8(t.dtype) || t.dtype == Dtype::kU8; };
  if (a.is_pointer || b.is_pointer || !multiplies(a) || !multiplies(b) ||
      acc.element() != Type::scalar(Dtype::kF32))
    return "there is no scaled product of " + to_string(a.element()) + " and " +
           to_string(b.element()) + " with a sum in " + to_string(acc.element());
  if (a.rank() != 2 || b.rank() != 2 || acc.rank() != 2 ||
      a.shape[1] * each(a) != b.shape[0] * each(b) || acc.shape[0] != a.shape[0] ||
      acc.shape[1] != b.shape[1])
    return "shapes must be MxK, KxN and MxN, but are " + to_string(a) + ", " + to_string(b) +
           " and " + to_string(acc);
  const int64_t k = a.shape[1] * each(a);
  const Dtype dtype = q.type(3).dtype;
  const int64_t run = dtype == Dtype::kF8E4M3 ? 16 : 32;
  for (size_t i : {3, 4}) {
    const Type wanted = Type::tile(dtype, {i == 3 ? a.shape[0] : b.shape[1], k / run});
    bool known = dtype == Dtype::kU8 || (run == 16 && each(a) == 2 && each(b) == 2);
    if (!known || k < run || q.type(i) != wanted)
      return "the scales of " + to_string(a) + " and " + to_string(b) +
             " are u8 for each 32 values along K, or of e2m1 f8e4m3 for each 16, not " +
             to_string(q.type(i));
  }
  return "";
}

std::string check_dot(const Query& q) {
  if (q.node.operands.size() == 5) return check_scaled(q);
  const Type &a = q.type(0), &b = q.type(1), &acc = q.type(2);
  const int64_t k_factor = q.node.operands.size() == 4 ? 2 : 1;
  int rank = a.rank();
  bool good = (rank == 2 || rank == 3) && b.rank() == rank && acc.rank() == rank;
  if (good) {
    size_t m = static_cast<size_t>(rank) - 2, n = m + 1;
    good = a.shape[n] * k_factor == b.shape[m] && acc.shape[m] == a.shape[m] &&
           acc.shape[n] == b.shape[n];
    if (rank == 3) good = good && a.shape[0] == b.shape[0] && a.shape[0] == acc.shape[0];
  }
  if (!good)
    return std::string("shapes must be ") + (k_factor == 2 ? "MxK/2" : "MxK") +
           ", KxN and MxN, but are " + to_string(a) + ", " + to_string(b) + " and " +
           to_string(acc);
  if (a.is_pointer || b.is_pointer || acc.is_pointer ||
      !dot_dtypes_fit(a.dtype, b.dtype, acc.dtype))
    return "there is no product of " + to_string(a.element()) + " and " + to_string(b.element()) +
           " with a sum in " + to_string(acc.element());
  if (q.node.attrs.get_int("nibbles", 0) != 0 && acc.dtype != Dtype::kI32)
    return "nibbles are held in i8 or u8, not in " + to_string(a.element());
  return k_factor == 2 ? check_places(q) : "";
}

// ---- control and others ----

std::string check_for(const Query& q) {
  for (size_t i = 0; i < 3; ++i)
    if (!q.type(i).is_scalar() || !is_int_type(q.type(i)) || is_i1(q.type(i)) ||
        q.type(i) != q.type(0))
      return "'lo', 'hi' and 'step' must be scalar integers of one type, but are " +
             to_string(q.type(0)) + ", " + to_string(q.type(1)) + " and " + to_string(q.type(2));
  const OpNode* step = q.module.def(q.node.operands[2]);
  if (step && step->op == Op::Const && step->attrs.get_int("value") == 0) return "'step' is zero";
  return "";
}

std::string check_hint(const Query& q) {
  if (!q.type(0).is_pointer && !is_int_type(q.type(0))) return q.wrong(0, "integers or pointers");
  auto values = q.node.attrs.get_list("values");
  size_t wanted = q.type(0).is_scalar() ? 1 : q.type(0).shape.size();
  if (values.size() != wanted)
    return "attribute 'values' has " + std::to_string(values.size()) +
           " entries, but must have one a dimension, " + std::to_string(wanted);
  for (int64_t value : values)
    if (value < 1)
      return "attribute 'values' holds " + std::to_string(value) + ", which is not positive";
  return "";
}

// ---- shared memory ----

// Buffers are made by shared_alloc and operand 0 of the ops on them; nothing else may touch one.
std::string check_no_buffers(const Query& q) {
  bool takes_buffer =
      q.node.op == Op::CopyAsync || q.node.op == Op::SharedLoad || q.node.op == Op::SharedStore;
  for (size_t i = takes_buffer ? 1 : 0; i < q.node.operands.size(); ++i)
    if (q.type(i).is_shared) return q.name(i) + " is a shared buffer, which this op cannot take";
  for (ValueId result : q.node.results)
    if (q.module.type(result).is_shared && q.node.op != Op::SharedAlloc)
      return "only shared_alloc makes a shared buffer";
  return "";
}

// Copies move bytes, and the bytes of i1 would need a comparison.
std::string check_alloc(const Query& q) {
  const Type& type = q.result();
  if (!type.is_shared) return "the result is " + to_string(type) + ", but must be a shared buffer";
  if (type.is_pointer || is_i1(type))
    return "a buffer holds numbers of 8 bits or more, not " + to_string(type.element());
  return "";
}

std::string check_slot(const Query& q) {
  if (!q.type(0).is_shared) return q.wrong(0, "a shared buffer");
  return q.type(1) == Type::scalar(Dtype::kI32) ? "" : q.wrong(1, "a scalar i32");
}

std::string check_copy(const Query& q) {
  if (std::string wrong = check_slot(q); !wrong.empty()) return wrong;
  Type slot = q.type(0).slot();
  Type pointers{slot.dtype, true, slot.shape}, mask = Type::tile(Dtype::kI1, slot.shape);
  if (q.type(2) != pointers) return q.wrong(2, to_string(pointers));
  return !q.has(3) || q.type(3) == mask ? "" : q.wrong(3, to_string(mask));
}

std::string check_shared_store(const Query& q) {
  if (std::string wrong = check_slot(q); !wrong.empty()) return wrong;
  return q.type(2) == q.type(0).slot() ? "" : q.wrong(2, to_string(q.type(0).slot()));
}

std::string check_copy_wait(const Query& q) {
  int64_t pending = q.node.attrs.get_int("pending");
  if (pending >= 0) return "";
  return "attribute 'pending' is " + std::to_string(pending) + ", but must not be negative";
}

// The element types of ops whose operands have one type; nothing for other ops.
std::optional<Elements> operand_elements(Op op) {
  switch (op) {
    case Op::Add:
    case Op::Sub:
    case Op::Mul:
    case Op::Rem:
    case Op::Min:
    case Op::Max:
    case Op::Cmp:
    case Op::Neg:
    case Op::Abs:
      return Elements::kNumber;
    case Op::Div:
      return Elements::kIntOrWideFloat;
    case Op::And:
    case Op::Or:
    case Op::Xor:
    case Op::Not:
    case Op::Shl:
    case Op::Shr:
      return Elements::kInt;
    case Op::MulHi:
      return Elements::kWideInt;
    case Op::Fma:
    case Op::Floor:
    case Op::Ceil:
      return Elements::kFloat;
    case Op::DivRn:
    case Op::Exp:
    case Op::Exp2:
    case Op::Log:
    case Op::Log2:
    case Op::Sin:
    case Op::Cos:
    case Op::Tanh:
    case Op::Sqrt:
    case Op::SqrtRn:
    case Op::Rsqrt:
    case Op::Erf:
      return Elements::kWideFloat;
    default:
      return std::nullopt;
  }
}

}  // namespace

std::string check_op_types(const Module& module, const OpNode& node) {
  Query q{module, node};
  if (std::string wrong = check_no_buffers(q); !wrong.empty()) return wrong;
  if (auto elements = operand_elements(node.op)) return check_elements(q, *elements);
  switch (node.op) {
    case Op::For:
      return check_for(q);
    case Op::If:
    case Op::Condition:
    case Op::Assume:
      return check_scalar_i1(q, 0);
    case Op::ProgramId:
    case Op::NumPrograms:
      return check_axis_of_grid(q);
    case Op::Const:
      return check_const(q);
    case Op::Splat:
      return check_splat(q);
    case Op::Broadcast:
      return check_broadcast(q);
    case Op::Reshape:
      return check_reshape(q);
    case Op::Select:
      if (q.type(0) == Type::tile(Dtype::kI1, q.type(1).shape)) return "";
      return q.wrong(0, "i1 of the shape of " + to_string(q.type(1)));
    case Op::Cast:
      return check_cast(q);
    case Op::Bitcast:
      return check_bitcast(q);
    case Op::PtrAdd:
      return check_ptr_add(q);
    case Op::Load:
      return first_of({check_mask(q, 1), check_pointee(q, 2)});
    case Op::Store:
      return first_of({check_pointer(q), check_pointee(q, 1), check_mask(q, 2)});
    case Op::AtomicRmw:
      return check_atomic_rmw(q);
    case Op::AtomicCas:
      return check_atomic_cas(q);
    case Op::Dot:
      return check_dot(q);
    case Op::Gather:
      return check_gather(q);
    case Op::Scan:
      return check_numbers(q);
    case Op::Histogram:
      return check_histogram(q);
    case Op::Hint:
      return check_hint(q);
    case Op::SharedAlloc:
      return check_alloc(q);
    case Op::CopyAsync:
      return check_copy(q);
    case Op::CopyWait:
      return check_copy_wait(q);
    case Op::SharedLoad:
      return check_slot(q);
    case Op::SharedStore:
      return check_shared_store(q);
    case Op::Assert:
      return is_i1(q.type(0)) ? check_mask(q, 1) : q.wrong(0, "i1");
    default:
      return "";  // the type rule and verify_regions say it all
  }
}

}  // namespace tilewright::ir
