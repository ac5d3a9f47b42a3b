// Runs IR text by the interpreter and, emitted, by the emulator, and compares every buffer.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "codegen/cuda/cuda.h"
#include "codegen/interp/interp.h"
#include "dsl/base/numeric.h"

namespace tilewright::cuda {

// One argument: a buffer (count > 0) or a scalar.
struct Argument {
  Dtype dtype = Dtype::kI32;
  size_t count = 0;
  std::vector<uint8_t> bytes;  // the buffer's contents at the start
  uint64_t scalar = 0;

  size_t element_bytes() const { return static_cast<size_t>(dtype_bytes(dtype)); }
  uint64_t bits(size_t i) const { return read(bytes, i); }
  uint64_t read(const std::vector<uint8_t>& from, size_t i) const {
    uint64_t value = 0;
    std::memcpy(&value, &from[i * element_bytes()], element_bytes());
    return value;
  }
  void set(size_t i, uint64_t value) {
    std::memcpy(&bytes[i * element_bytes()], &value, element_bytes());
  }
};

inline Argument scalar(Dtype dtype, double value) {
  Argument argument{.dtype = dtype, .bytes = {}};
  argument.scalar = is_float(dtype) ? float_to_bits(value, dtype)
                                    : int_to_bits(static_cast<int64_t>(value), dtype);
  return argument;
}
inline Argument buffer(Dtype dtype, size_t count, const std::function<double(size_t)>& value) {
  Argument argument{.dtype = dtype, .count = count, .bytes = {}};
  argument.bytes.resize(count * argument.element_bytes());
  for (size_t i = 0; i < count; ++i)
    argument.set(i, is_float(dtype) ? float_to_bits(value(i), dtype)
                                    : int_to_bits(static_cast<int64_t>(value(i)), dtype));
  return argument;
}
inline Argument zeros(Dtype dtype, size_t count) {
  return buffer(dtype, count, [](size_t) { return 0.0; });
}
// Small whole numbers: sums of many of them are exact in every type.
inline Argument small_integers(Dtype dtype, size_t count, int low, int high, unsigned seed) {
  std::mt19937 random(seed);
  return buffer(dtype, count, [&, low, high](size_t) {
    return static_cast<double>(low +
                               static_cast<int>(random() % static_cast<unsigned>(high - low + 1)));
  });
}
// Every bit pattern is possible.
inline Argument random_bits(Dtype dtype, size_t count, unsigned seed) {
  std::mt19937_64 random(seed);
  Argument argument = zeros(dtype, count);
  for (size_t i = 0; i < count; ++i)
    argument.set(i, int_to_bits(static_cast<int64_t>(random()),
                                dtype == Dtype::kI1 ? Dtype::kI1 : Dtype::kU64));
  return argument;
}

struct Tolerance {
  double absolute = 0, relative = 0;
};

// Kernel text with its arguments and what is allowed between the two results.
struct Comparison {
  std::string ir;
  std::vector<Argument> arguments;
  std::string target = "sm_90";
  std::array<uint32_t, 3> grid = {1, 1, 1};
  Tolerance tolerance = {};

  ir::Module module() const {
    ir::Module module = ir::parse("test.ir", ir).value();
    ir::verify(module).value();
    return module;
  }
  Result<Source> source() const { return emit(module(), *find_target(target)); }

  using Buffers = std::vector<std::vector<uint8_t>>;
  // The buffers after a run of one executor.
  Buffers run(const std::function<Status(const Launch&)>& executor) const {
    Buffers buffers;
    std::vector<uint64_t> slots;
    for (const Argument& argument : arguments) buffers.push_back(argument.bytes);
    for (size_t i = 0; i < arguments.size(); ++i)
      slots.push_back(arguments[i].count > 0 ? reinterpret_cast<uint64_t>(buffers[i].data())
                                             : arguments[i].scalar);
    Launch launch;
    launch.grid = grid;
    launch.arguments = slots;
    executor(launch).value();
    return buffers;
  }

  bool close(Dtype dtype, uint64_t expected, uint64_t actual) const {
    if (expected == actual) return true;
    if (!is_float(dtype)) return false;
    double x = bits_to_float(expected, dtype), y = bits_to_float(actual, dtype);
    if (std::isnan(x) || std::isnan(y)) return std::isnan(x) && std::isnan(y);
    if (std::isinf(x) || std::isinf(y)) return x == y;
    return (x != y || x != 0) &&
           std::fabs(x - y) <= tolerance.absolute + tolerance.relative * std::fabs(x);
  }

  // The text for each target compiles with NVRTC, where there is one.
  void compiles(const std::vector<std::string>& targets) const {
    if (!nvrtc_info().ok()) return;
    for (const std::string& name : targets) {
      const Target& t = *find_target(name);
      Result<Source> emitted = emit(module(), t);
      ASSERT_TRUE(emitted.ok()) << emitted.error().text();
      Result<Binary> binary = compile(*emitted, t);
      ASSERT_TRUE(binary.ok()) << name << ": " << binary.error().text() << "\n" << emitted->text;
    }
  }

  // The emulator finds nothing wrong with a text.
  bool runs_clean(const Source& text) const {
    auto kernel = emulate(text);
    if (!kernel.ok()) return false;
    try {
      run([&](const Launch& launch) { return (*kernel)->run(launch); });
    } catch (const Error&) {
      return false;
    }
    return true;
  }

  // Emits, runs both, compares. `describe` names what element i of an argument is.
  void check(const std::function<std::string(size_t, size_t)>& describe = {}) const {
    Result<Source> emitted = source();
    ASSERT_TRUE(emitted.ok()) << emitted.error().text();
    Buffers expected = run([&](const Launch& launch) { return interp::run(module(), launch); });
    auto kernel = emulate(*emitted);
    ASSERT_TRUE(kernel.ok()) << kernel.error().text() << "\n" << emitted->text;
    Buffers actual;
    try {
      actual = run([&](const Launch& launch) { return (*kernel)->run(launch); });
    } catch (const Error& error) {
      FAIL() << error.what() << "\n" << ir << "\n" << emitted->text;
    }
    int shown = 0;
    for (size_t a = 0; a < arguments.size(); ++a) {
      const Argument& argument = arguments[a];
      for (size_t i = 0; i < argument.count; ++i) {
        uint64_t x = argument.read(expected[a], i), y = argument.read(actual[a], i);
        if (close(argument.dtype, x, y)) continue;
        bool real = is_float(argument.dtype);
        auto number = [&](uint64_t bits) {
          return real ? std::to_string(bits_to_float(bits, argument.dtype))
                      : std::to_string(bits_to_int(bits, argument.dtype));
        };
        ADD_FAILURE() << "argument " << a << " element " << i
                      << (describe ? " (" + describe(a, i) + ")" : "") << ": expected " << number(x)
                      << ", got " << number(y) << std::hex << " (" << x << ", " << y << ")";
        if (++shown == 8) {
          ADD_FAILURE() << ir << "\n" << emitted->text;
          return;
        }
      }
    }
    if (shown > 0) ADD_FAILURE() << ir << "\n" << emitted->text;
  }
};

}  // namespace tilewright::cuda
