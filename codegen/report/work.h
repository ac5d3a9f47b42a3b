// What a kernel asks of the machine, from its tile IR alone: operations and bytes of one step of
// each innermost loop, and of the code outside of loops. One program instance; masks are taken as
// all true.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "codegen/ir/module.h"
#include "codegen/target/target.h"

namespace tilewright::report {

// Which of a card's rates a dot runs at: operands and sums.
enum class Math : uint8_t { kF16F32, kF16F16, kTf32, kF8F32, kF8F16, kF4, kI8, kI4, kF64, kFma };
constexpr int kMathKinds = static_cast<int>(Math::kFma) + 1;
std::string_view math_name(Math math);       // "f16, f32 sums"
int rate_of(const Rates& rates, Math math);  // operations a clock and SM; 0: none

struct DotWork {
  Math math{};
  int64_t operations = 0;  // 2 * M * N * K
  int passes = 1;          // how often the tensor cores do them (3xTF32: 3)
  int speed = 1;           // 2: a sparse operand, whose products take half as long
};

struct Work {
  Span span;  // of the loop; of nothing for the code outside of loops
  bool is_loop = false;
  std::vector<Span> ops;         // places of what it holds
  std::optional<int64_t> steps;  // when the bounds are constants
  int loads = 0, stores = 0, atomics = 0, dots = 0;
  int64_t loaded = 0, stored = 0;  // bytes of global memory
  int64_t smallest_load = 0;       // elements of it; 0 without loads
  // Of `loaded`: operands that programs of one row, or column, of tiles read alike.
  int64_t shared_by_row = 0, shared_by_column = 0;
  std::vector<DotWork> dot_work;  // by kind
  int64_t elementwise = 0;        // float elements computed outside of dots, each op one operation

  int64_t bytes() const { return loaded + stored; }
  int64_t operations() const;
};

// The code outside of loops first (without what runs inside), then innermost loops as in the text.
// The module is the one before scheduling, so that steps are the author's.
std::vector<Work> count_work(const ir::Module& module, const Target& target);

}  // namespace tilewright::report
