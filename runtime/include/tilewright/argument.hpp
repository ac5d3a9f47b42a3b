// The values of a kernel call, as C++ types turn into them.
#pragma once

#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string_view>
#include <type_traits>

#include "dsl/base/dtype.h"

namespace tilewright {

// Element types that C++ has no name for, by their images in memory.
struct half {
  uint16_t bits;
};
struct bfloat16 {
  uint16_t bits;
};
struct float8_e4m3 {
  uint8_t bits;
};
struct float8_e5m2 {
  uint8_t bits;
};

// The element type that a C++ type stands for. Specialise it for types of your own that have the
// same image, e.g. `template <> struct tilewright::dtype_of<__half> : dtype_of<tilewright::half>
// {};`
template <class T>
struct dtype_of {};
template <Dtype kDtype>
struct dtype_constant {
  static constexpr Dtype value = kDtype;
};
template <>
struct dtype_of<bool> : dtype_constant<Dtype::kI1> {};
template <>
struct dtype_of<half> : dtype_constant<Dtype::kF16> {};
template <>
struct dtype_of<bfloat16> : dtype_constant<Dtype::kBF16> {};
template <>
struct dtype_of<float8_e4m3> : dtype_constant<Dtype::kF8E4M3> {};
template <>
struct dtype_of<float8_e5m2> : dtype_constant<Dtype::kF8E5M2> {};
template <>
struct dtype_of<float> : dtype_constant<Dtype::kF32> {};
template <>
struct dtype_of<double> : dtype_constant<Dtype::kF64> {};
template <std::integral T>
requires(!std::same_as<T, bool>) struct dtype_of<T> {
  static constexpr Dtype value = std::is_signed_v<T> ? (sizeof(T) == 1   ? Dtype::kI8
                                                        : sizeof(T) == 2 ? Dtype::kI16
                                                        : sizeof(T) == 4 ? Dtype::kI32
                                                                         : Dtype::kI64)
                                                     : (sizeof(T) == 1   ? Dtype::kU8
                                                        : sizeof(T) == 2 ? Dtype::kU16
                                                        : sizeof(T) == 4 ? Dtype::kU32
                                                                         : Dtype::kU64);
};
template <class T>
concept Element = requires {
  dtype_of<std::remove_cv_t<T>>::value;
};

// One value as a caller hands it over: no ownership, no allocation.
struct Argument {
  enum class Kind : uint8_t { kNone, kBool, kInt, kFloat, kPointer };
  Kind kind = Kind::kNone;
  bool is_unsigned = false;   // kInt: bits are a uint64 above the int64 range
  bool has_dtype = false;     // kPointer: the pointee is known
  Dtype dtype = Dtype::kF32;  // kPointer: the pointee
  uint64_t bits = 0;          // integer, boolean, the double's image, or the address
  uint64_t bytes = 0;         // kPointer: size of the memory behind it, 0 when unknown

  static constexpr Argument none() { return {}; }
  static constexpr Argument boolean(bool value) {
    return {Kind::kBool, false, false, {}, value, 0};
  }
  static constexpr Argument integer(int64_t value) {
    return {Kind::kInt, false, false, {}, static_cast<uint64_t>(value), 0};
  }
  static constexpr Argument integer(uint64_t value) {
    bool large = value > static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
    return {Kind::kInt, large, false, {}, value, 0};
  }
  static constexpr Argument real(double value) {
    return {Kind::kFloat, false, false, {}, std::bit_cast<uint64_t>(value), 0};
  }
  static constexpr Argument pointer(uint64_t address, Dtype pointee, uint64_t bytes = 0) {
    return {Kind::kPointer, false, true, pointee, address, bytes};
  }
  // The pointee comes from the parameter's annotation.
  static constexpr Argument pointer(uint64_t address) {
    return {Kind::kPointer, false, false, {}, address, 0};
  }
};

// A view of memory as a tensor: what kernels get is the address and the element type; the shape
// says how much memory there is, which the checking executors use.
struct Tensor {
  static constexpr int kMaxRank = 8;

  void* data = nullptr;
  Dtype dtype = Dtype::kF32;
  int rank = 0;
  std::array<int64_t, kMaxRank> shape{};
  std::array<int64_t, kMaxRank> strides{};  // in elements

  Tensor() = default;
  // Row-major.
  template <Element T>
  Tensor(T* elements, std::initializer_list<int64_t> extents)
      : Tensor(const_cast<std::remove_cv_t<T>*>(elements), dtype_of<std::remove_cv_t<T>>::value,
               extents) {}
  Tensor(void* elements, Dtype type, std::initializer_list<int64_t> extents)
      : data(elements), dtype(type) {
    for (int64_t extent : extents)
      if (rank < kMaxRank) shape[static_cast<size_t>(rank++)] = extent;
    int64_t stride = 1;
    for (int d = rank; d-- > 0; stride *= shape[static_cast<size_t>(d)])
      strides[static_cast<size_t>(d)] = stride;
  }

  // From the first element's byte to the last one's, for strides that are not negative.
  uint64_t bytes() const {
    int64_t last = 0;
    for (size_t d = 0; d < static_cast<size_t>(rank); ++d) {
      if (shape[d] == 0) return 0;
      last += (shape[d] - 1) * strides[d];
    }
    return static_cast<uint64_t>(last + 1) * static_cast<uint64_t>(dtype_bytes(dtype));
  }
};

// ---- how C++ values become arguments ----

inline Argument to_argument(const Argument& argument) {
  return argument;
}
inline Argument to_argument(std::nullptr_t) {
  return Argument::none();
}
template <std::integral T>
Argument to_argument(T value) {
  if constexpr (std::same_as<T, bool>) {
    return Argument::boolean(value);
  } else if constexpr (std::is_signed_v<T>) {
    return Argument::integer(static_cast<int64_t>(value));
  } else {
    return Argument::integer(static_cast<uint64_t>(value));
  }
}
template <std::floating_point T>
Argument to_argument(T value) {
  return Argument::real(static_cast<double>(value));
}
template <class T>
requires(Element<T> || std::is_void_v<T>) Argument to_argument(T* pointer) {
  auto address = static_cast<uint64_t>(reinterpret_cast<uintptr_t>(pointer));
  if constexpr (std::is_void_v<T>)
    return Argument::pointer(address);
  else
    return Argument::pointer(address, dtype_of<std::remove_cv_t<T>>::value);
}
inline Argument to_argument(const Tensor& tensor) {
  return Argument::pointer(static_cast<uint64_t>(reinterpret_cast<uintptr_t>(tensor.data)),
                           tensor.dtype, tensor.bytes());
}

// A value given by name: a number, boolean, None (nullptr), string, element type, pointer or
// tensor. Strings are borrowed.
struct Value {
  enum class Kind : uint8_t { kArgument, kString, kDtype };
  Kind kind = Kind::kArgument;
  Argument argument;
  std::string_view text;
  Dtype dtype{};

  Value() = default;
  Value(const char* string) : kind(Kind::kString), text(string) {}       // NOLINT: implicit
  Value(std::string_view string) : kind(Kind::kString), text(string) {}  // NOLINT: implicit
  Value(Dtype type) : kind(Kind::kDtype), dtype(type) {}                 // NOLINT: implicit
  template <class T>
  requires requires(const T& value) { to_argument(value); }
  Value(const T& value) : argument(to_argument(value)) {}  // NOLINT: implicit
};

// Values by name, kept in place: `{{"BLOCK", 128}, {"ACTIVATION", "relu"}}`. Names and strings are
// borrowed; those of literals live for ever.
class Constants {
 public:
  static constexpr size_t kCapacity = 24;
  struct Entry {
    std::string_view name;
    Value value;
  };

  Constants() = default;
  Constants(std::initializer_list<Entry> entries) {
    for (const Entry& entry : entries) add(entry.name, entry.value);
  }
  // More than kCapacity entries are counted but not kept; launches then fail with `bad-launch`.
  void add(std::string_view name, Value value) {
    if (size_ < kCapacity) slots_[size_].entry = {name, value};
    ++size_;
  }
  size_t size() const { return size_; }
  const Entry* begin() const { return &slots_[0].entry; }
  const Entry* end() const { return begin() + (size_ < kCapacity ? size_ : kCapacity); }

 private:
  // Unused slots stay uninitialised: a launch builds one of these.
  union Slot {
    Entry entry;
    Slot() {}
  };
  static_assert(std::is_trivially_copyable_v<Entry>);
  size_t size_ = 0;
  std::array<Slot, kCapacity> slots_;
};

}  // namespace tilewright
