// dot. The contract leaves the order of the sum free; here it is the plain one: the products are
// added to acc in order of k.
#include <bit>
#include <cmath>

#include "codegen/interp/machine.h"

namespace tilewright::interp {
namespace {

struct DotShape {
  size_t batch = 1, m = 0, n = 0, k = 0;
};

DotShape dot_shape(const ir::Shape& a, const ir::Shape& b) {
  size_t last = a.size() - 1;
  DotShape s;
  for (size_t d = 0; d + 2 < a.size(); ++d) s.batch *= static_cast<size_t>(a[d]);
  s.m = static_cast<size_t>(a[last - 1]);
  s.k = static_cast<size_t>(a[last]);
  s.n = static_cast<size_t>(b[last]);
  return s;
}

std::vector<double> as_doubles(const Tile& tile, Dtype dtype, bool to_tf32) {
  std::vector<double> out(tile.size());
  for (size_t i = 0; i < tile.size(); ++i) {
    out[i] = bits_to_float(tile[i], dtype);
    if (to_tf32) out[i] = static_cast<double>(round_to_tf32(static_cast<float>(out[i])));
  }
  return out;
}

// One element of the result from acc, a row of a and a column of b. Products of f16, bf16, fp8 and
// tf32 numbers are exact in f32, so fma rounds the sum alone. f16 accumulators sum in f32 and are
// rounded once, at the end of this op's K. tf32x3 is bounded by f32's own error; it is f32's fma.
uint64_t dot_floats(uint64_t acc, Dtype acc_dtype, const double* a, const double* b, size_t k,
                    size_t b_stride) {
  if (acc_dtype == Dtype::kF64) {
    auto sum = std::bit_cast<double>(acc);
    for (size_t i = 0; i < k; ++i) sum = std::fma(a[i], b[i * b_stride], sum);
    return std::bit_cast<uint64_t>(sum);
  }
  auto sum = static_cast<float>(bits_to_float(acc, acc_dtype));
  for (size_t i = 0; i < k; ++i)
    sum = std::fmaf(static_cast<float>(a[i]), static_cast<float>(b[i * b_stride]), sum);
  return float_to_bits(static_cast<double>(sum), acc_dtype);
}

double scale_value(uint64_t bits, Dtype dtype) {
  if (dtype == Dtype::kF8E4M3) return std::fabs(bits_to_float(bits, dtype));
  return bits == 255 ? std::nan("") : std::ldexp(1.0, static_cast<int>(bits) - 127);
}

// An operand with K in dimension `axis` of two, times its scales [other dimension, K / run].
std::vector<double> scaled(const Machine& machine, ir::ValueId operand, ir::ValueId scale,
                           size_t axis) {
  static constexpr double kE2m1[] = {0,    0.5,  1,  1.5,  2,  3,  4,  6,
                                     -0.0, -0.5, -1, -1.5, -2, -3, -4, -6};
  const ir::Type &type = machine.type(operand), &scale_type = machine.type(scale);
  const Tile &tile = machine.get(operand), &scales = machine.get(scale);
  const size_t each = type.dtype == Dtype::kU8 ? 2 : 1;
  const size_t k = static_cast<size_t>(type.shape[axis]) * each,
               others = static_cast<size_t>(type.shape[1 - axis]);
  const size_t groups = static_cast<size_t>(scale_type.shape[1]), run = k / groups;
  std::vector<double> out(k * others);
  for (size_t o = 0; o < others; ++o)
    for (size_t i = 0; i < k; ++i) {
      size_t from = axis == 1 ? o * (k / each) + i / each : i / each * others + o;
      double value =
          each == 2 ? kE2m1[tile[from] >> (i % 2 * 4) & 15] : bits_to_float(tile[from], type.dtype);
      out[axis == 1 ? o * k + i : i * others + o] =
          value * scale_value(scales[o * groups + i / run], scale_type.dtype);
    }
  return out;
}

Tile scaled_dot(const Machine& machine, const ir::OpNode& op, DotShape s) {
  auto a = scaled(machine, op.operands[0], op.operands[3], 1);
  auto b = scaled(machine, op.operands[1], op.operands[4], 0);
  s.k = a.size() / s.m;
  Tile out = machine.get(op.operands[2]);
  for (size_t i = 0; i < s.m; ++i)
    for (size_t j = 0; j < s.n; ++j)
      out[i * s.n + j] = dot_floats(out[i * s.n + j], Dtype::kF32, &a[i * s.k], &b[j], s.k, s.n);
  return out;
}

Tile float_dot(const Machine& machine, const ir::OpNode& op, const Tile& left, const DotShape& s) {
  Dtype a_dtype = machine.type(op.operands[0]).dtype, b_dtype = machine.type(op.operands[1]).dtype;
  Dtype acc_dtype = machine.type(op.results[0]).dtype;
  bool tf32 = op.attrs.get_word("precision", "tf32") == "tf32";
  auto a = as_doubles(left, a_dtype, tf32 && a_dtype == Dtype::kF32);
  auto b = as_doubles(machine.get(op.operands[1]), b_dtype, tf32 && b_dtype == Dtype::kF32);
  Tile out = machine.get(op.operands[2]);
  for (size_t batch = 0; batch < s.batch; ++batch)
    for (size_t i = 0; i < s.m; ++i)
      for (size_t j = 0; j < s.n; ++j) {
        uint64_t& element = out[(batch * s.m + i) * s.n + j];
        element = dot_floats(element, acc_dtype, &a[(batch * s.m + i) * s.k],
                             &b[batch * s.k * s.n + j], s.k, s.n);
      }
  return out;
}

// Bytes as integers; with nibbles, all low ones, then all high ones.
std::vector<int64_t> as_integers(const Tile& tile, Dtype dtype, bool nibbles) {
  std::vector<int64_t> out;
  for (uint64_t bits : tile) out.push_back(bits_to_int(bits, dtype));
  if (!nibbles) return out;
  auto nibble = [&](uint64_t bits) {
    auto value = static_cast<int64_t>(bits & 15);
    return dtype == Dtype::kI8 && value > 7 ? value - 16 : value;
  };
  out.clear();
  for (int shift : {0, 4})
    for (uint64_t bits : tile) out.push_back(nibble(bits >> shift));
  return out;
}

Tile int_dot(const Machine& machine, const ir::OpNode& op, const Tile& left, const DotShape& s) {
  bool nibbles = op.attrs.get_int("nibbles", 0) != 0;
  auto a = as_integers(left, machine.type(op.operands[0]).dtype, nibbles);
  auto b = as_integers(machine.get(op.operands[1]), machine.type(op.operands[1]).dtype, nibbles);
  Dtype acc_dtype = machine.type(op.results[0]).dtype;
  size_t a_half = left.size(), b_half = machine.get(op.operands[1]).size();
  Tile out = machine.get(op.operands[2]);
  for (size_t batch = 0; batch < s.batch; ++batch)
    for (size_t i = 0; i < s.m; ++i)
      for (size_t j = 0; j < s.n; ++j) {
        uint64_t& element = out[(batch * s.m + i) * s.n + j];
        uint64_t sum = element;  // wraps modulo 2^64, which the narrowing below preserves
        for (size_t half = 0; half <= static_cast<size_t>(nibbles); ++half)
          for (size_t k = 0; k < s.k; ++k)
            sum += static_cast<uint64_t>(a[half * a_half + (batch * s.m + i) * s.k + k]) *
                   static_cast<uint64_t>(b[half * b_half + (batch * s.k + k) * s.n + j]);
        element = int_to_bits(static_cast<int64_t>(sum), acc_dtype);
      }
  return out;
}

// A sparse operand written out. Places that do not ascend are the kernel's error; here the last
// value at a place counts.
Tile written_out(const Tile& kept, Dtype dtype, const Tile& places, int places_bits) {
  Tile out(2 * kept.size(), 0);
  const size_t bits = dtype == Dtype::kF32 ? 4 : 2, group = dtype == Dtype::kF32 ? 1 : 2;
  const size_t per_word = static_cast<size_t>(places_bits) / bits;
  for (size_t i = 0; i < kept.size(); ++i) {
    uint64_t place = places[i / per_word] >> (i % per_word * bits);
    // A float32 is named as two halves: 0, 1 (0b0100) or 2, 3 (0b1110).
    out[i / group * group * 2 + (bits == 4 ? place >> 1 & 1 : place & 3)] = kept[i];
  }
  return out;
}

}  // namespace

Status run_Dot(Machine& machine, const ir::OpNode& op) {
  DotShape s = dot_shape(machine.type(op.operands[0]).shape, machine.type(op.operands[1]).shape);
  if (op.operands.size() == 5) {
    machine.set_result(op, scaled_dot(machine, op, s));
    return {};
  }
  const ir::Type& type = machine.type(op.operands[0]);
  const bool sparse = op.operands.size() == 4;
  const Tile& left = machine.get(op.operands[0]);
  Tile dense;
  if (sparse) {
    dense = written_out(left, type.dtype, machine.get(op.operands[3]),
                        dtype_bits(machine.type(op.operands[3]).dtype));
    s.k *= 2;
  }
  const Tile& a = sparse ? dense : left;
  machine.set_result(
      op, is_float(type.dtype) ? float_dot(machine, op, a, s) : int_dot(machine, op, a, s));
  return {};
}

}  // namespace tilewright::interp
