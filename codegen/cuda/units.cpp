#include "codegen/cuda/units.h"

#include <algorithm>
#include <bit>

namespace tilewright::cuda {
namespace {

// "tw_mma_m16n8k16_f16_bf16_to_f16": the types' names as given, one if they are equal.
std::string function_name(const layout::MmaShape& shape, const std::string& a, const std::string& b,
                          bool to_f16) {
  std::string name = "tw_mma_m" + std::to_string(shape.m) + "n" + std::to_string(shape.n) + "k" +
                     std::to_string(shape.k) + "_" + a;
  if (a != b) name += "_" + b;
  return to_f16 ? name + "_to_f16" : name;
}

std::string text(Dtype dtype) {
  return std::string(dtype_name(dtype));
}

Unit whole(layout::MmaShape shape, Dtype a, Dtype b, Dtype sum) {
  return {.instruction = shape,
          .a = a,
          .b = b,
          .sum = sum,
          .split_a = {},
          .split_b = {},
          .function = function_name(shape, text(a), text(b), sum == Dtype::kF16)};
}

// The instruction for 16-bit floats by K, which must not be below it.
std::optional<layout::MmaShape> half_shape(const Target& target, int64_t k) {
  if (target.has_bf16_mma && k >= 16) return layout::MmaShape{16, 8, 16};
  if (k >= 8) return layout::MmaShape{16, 8, 8};
  return std::nullopt;
}

std::optional<Unit> fp8_unit(const Target& target, const DotTypes& dot) {
  Unit unit;
  if (target.has_fp8_mma && dot.k >= 32) {
    unit = whole({16, 8, 32}, dot.a, dot.b, dot.sum);
    if (dot.max_imprecise > 0 && dot.sum == Dtype::kF32)
      unit.promote = static_cast<int>(std::bit_floor(
          static_cast<uint64_t>(std::clamp<int64_t>(dot.max_imprecise, 32, dot.k) / 32)));
    return unit;
  }
  // Every fp8 number is an f16: bytes are widened in the fragments.
  auto shape = half_shape(target, dot.k / 2);
  if (!shape) return std::nullopt;
  unit = whole(*shape, Dtype::kF16, Dtype::kF16, dot.sum);
  unit.instruction.k *= 2;
  unit.a = dot.a;
  unit.b = dot.b;
  unit.products = 2;
  unit.split_a = text(dot.a);
  unit.split_b = text(dot.b);
  return unit;
}

std::optional<layout::MmaShape> byte_shape(const Target& target, int64_t k) {
  if (target.has_bf16_mma && k >= 32) return layout::MmaShape{16, 8, 32};
  if (target.has_bf16_mma && k >= 16) return layout::MmaShape{16, 8, 16};
  if (k >= 16) return layout::MmaShape{8, 8, 16};
  return std::nullopt;
}

std::optional<Unit> integer_unit(const Target& target, const DotTypes& dot) {
  auto shape = byte_shape(target, dot.k);
  if (!shape) return std::nullopt;
  Unit unit = whole(*shape, dot.a, dot.b, Dtype::kI32);
  if (!dot.nibbles) return unit;
  auto name = [](Dtype dtype) { return dtype == Dtype::kI8 ? "i4" : "u4"; };
  if (target.has_int4_mma) {
    layout::MmaShape counted = *shape;
    counted.k *= 2;
    unit.function = function_name(counted, name(dot.a), name(dot.b), false);
    return unit;
  }
  unit.products = 2;
  unit.split_a = name(dot.a);
  unit.split_b = name(dot.b);
  return unit;
}

std::optional<Unit> f64_unit(const Target& target, const DotTypes& dot) {
  if (!target.has_bf16_mma || dot.k < 4) return std::nullopt;
  layout::MmaShape shape = {8, 8, 4};
  if (target.has_wide_f64_mma && dot.k >= 8) shape = {16, 8, dot.k >= 16 ? 16 : 8};
  return whole(shape, dot.a, dot.b, Dtype::kF64);
}

std::optional<Unit> f32_unit(const Target& target, const DotTypes& dot) {
  if (!target.has_bf16_mma || dot.precision == "ieee" || dot.k < 4) return std::nullopt;
  Unit unit = whole({16, 8, dot.k >= 8 ? 8 : 4}, dot.a, dot.b, Dtype::kF32);
  unit.function = function_name(unit.instruction, "tf32", "tf32", false);
  if (dot.precision == "tf32x3") {
    unit.products = 3;
    unit.split_a = unit.split_b = "tf32";
  }
  return unit;
}

// Products of a sparse a: twice the columns of the dense ones. All have f32 or i32 sums.
std::optional<Unit> sparse_unit(const Target& target, const DotTypes& dot) {
  if (!target.has_bf16_mma || dot.sum == Dtype::kF16) return std::nullopt;
  if (is_fp8(dot.a) && !target.has_fp8_mma) return std::nullopt;
  const int bits = dtype_bits(dot.a);
  const layout::MmaShape shape = {16, 8, 512 / bits};
  const layout::MmaTiling tiling{.instruction = shape, .element_bits = bits, .sparse = true};
  if (dot.k < shape.k || !layout::has_mma_metadata(tiling, dtype_bits(dot.places)))
    return std::nullopt;
  Unit unit = whole(shape, dot.a, dot.b, is_int(dot.a) ? Dtype::kI32 : Dtype::kF32);
  const bool tf32 = dot.a == Dtype::kF32;
  unit.function =
      function_name(shape, tf32 ? "tf32" : text(dot.a), tf32 ? "tf32" : text(dot.b), false);
  unit.function.insert(std::string_view("tw_mma").size(), "_sp");
  unit.sparse = true;
  return unit;
}

// Bytes (pairs of e2m1 numbers) with scales for 32, or of nibbles 16, numbers along K.
std::optional<Unit> scaled_unit(const Target& target, const DotTypes& dot) {
  const layout::MmaShape shape = {16, 8, 32};
  const bool mixed = (dot.a == Dtype::kU8) != (dot.b == Dtype::kU8);
  if (!target.has_scaled_mma || dot.k < shape.k || mixed) return std::nullopt;
  Unit unit = whole(shape, dot.a, dot.b, Dtype::kF32);
  const bool nibbles = dot.a == Dtype::kU8;
  if (nibbles) {
    unit.scales = dot.scales == Dtype::kF8E4M3 ? 4 : 2;
    unit.function = unit.scales == 4 ? "tw_mma_nvf4_m16n8k64" : "tw_mma_mxf4_m16n8k64";
  } else {
    unit.scales = 1;
    unit.function.insert(std::string_view("tw_mma").size(), "_mxf8");
  }
  return unit;
}

}  // namespace

DotTypes dot_types(const ir::Module& module, const ir::OpNode& dot) {
  const ir::Type &a = module.type(dot.operands[0]), &b = module.type(dot.operands[1]);
  const bool sparse = dot.operands.size() == 4, scaled = dot.operands.size() == 5;
  return {.a = a.dtype,
          .b = b.dtype,
          .sum = module.type(dot.results[0]).dtype,
          .k = b.shape[b.shape.size() - 2],
          .nibbles = dot.attrs.get_int("nibbles", 0) != 0,
          .places = sparse ? module.type(dot.operands[3]).dtype : Dtype{},
          .sparse = sparse,
          .scales = scaled ? module.type(dot.operands[3]).dtype : Dtype{},
          .scaled = scaled,
          .precision = dot.attrs.get_word("precision", "tf32"),
          .max_imprecise = dot.attrs.get_int("max_imprecise", 0)};
}

std::optional<Unit> find_unit(const Target& target, const DotTypes& dot) {
  if (dot.sparse) return sparse_unit(target, dot);
  if (dot.scaled) return scaled_unit(target, dot);
  if (is_fp8(dot.a)) return fp8_unit(target, dot);
  switch (dot.a) {
    case Dtype::kF16:
      if (auto shape = half_shape(target, dot.k)) return whole(*shape, dot.a, dot.b, dot.sum);
      return std::nullopt;
    case Dtype::kBF16:
      if (auto shape = half_shape(target, dot.k); shape && target.has_bf16_mma)
        return whole(*shape, dot.a, dot.b, dot.sum);
      return std::nullopt;
    case Dtype::kI8:
    case Dtype::kU8:
      return integer_unit(target, dot);
    case Dtype::kF32:
      return f32_unit(target, dot);
    case Dtype::kF64:
      return f64_unit(target, dot);
    default:
      return std::nullopt;
  }
}

}  // namespace tilewright::cuda
