// IR types: small comparable values. A type is an element (a dtype, or a pointer to a dtype) and a
// shape; an empty shape is a scalar. Text: `f32`, `ptr<f16>`, `tile<128x64xbf16>`,
// `tile<64xptr<f32>>`. A buffer in shared memory, which only the ops of scheduled IR use, has its
// number of slots and the extents of the tile in each: `shared<3x128x64xf16>`.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dsl/base/dtype.h"

namespace tilewright::ir {

using Shape = std::vector<int64_t>;

struct Type {
  Dtype dtype = Dtype::kI32;  // the element, or the pointee when is_pointer
  bool is_pointer = false;
  Shape shape;  // powers of two, at most 5 dimensions, at most 2^20 elements
  // A buffer: shape is [slots, tile extents…], and slots need not be a power of two. It is neither
  // a tile nor a scalar.
  bool is_shared = false;

  static Type scalar(Dtype dtype) { return {dtype, false, {}}; }
  static Type pointer(Dtype pointee) { return {pointee, true, {}}; }
  static Type tile(Dtype dtype, Shape shape) { return {dtype, false, std::move(shape)}; }
  static Type shared(int64_t slots, const Type& tile) {
    Type type{tile.dtype, false, tile.shape, true};
    type.shape.insert(type.shape.begin(), slots);
    return type;
  }

  bool is_tile() const { return !shape.empty() && !is_shared; }
  bool is_scalar() const { return shape.empty(); }
  int rank() const { return static_cast<int>(shape.size()); }
  int64_t element_count() const {
    int64_t count = 1;
    for (int64_t extent : shape) count *= extent;
    return count;
  }
  // Bits and bytes of one element as held in a register or memory; pointers are 64 bits.
  int element_bits() const { return is_pointer ? 64 : dtype_bits(dtype); }
  int element_bytes() const { return is_pointer ? 8 : dtype_bytes(dtype); }
  // What one slot of a buffer holds.
  Type slot() const { return {dtype, false, Shape(shape.begin() + 1, shape.end())}; }
  Type element() const { return {dtype, is_pointer, {}}; }
  Type with_shape(Shape new_shape) const { return {dtype, is_pointer, std::move(new_shape)}; }
  Type with_dtype(Dtype new_dtype) const { return {new_dtype, false, shape}; }

  friend bool operator==(const Type&, const Type&) = default;
};

std::string to_string(const Type& type);
// Parses the spelling of to_string; nullopt if `text` is not exactly one type.
std::optional<Type> parse_type(std::string_view text);

}  // namespace tilewright::ir
