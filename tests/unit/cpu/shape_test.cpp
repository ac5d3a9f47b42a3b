// Shape ops, multi-dimensional tiles, lanes that span rows, and when values get buffers.
#include "tests/unit/cpu/harness.h"

namespace tilewright::cpu {
namespace {

std::vector<double> ramp(size_t count) {
  std::vector<double> out;
  for (size_t i = 0; i < count; ++i) out.push_back(static_cast<double>(i * 7 % 1009));
  return out;
}

std::string dims(const std::vector<int>& shape) {
  std::string out;
  for (int d : shape) out += std::to_string(d) + "x";
  return out;
}

int count_of(const std::vector<int>& shape) {
  int n = 1;
  for (int d : shape) n *= d;
  return n;
}

// Loads %x as a tile of the shape, with elements in row-major order.
std::string load_tile(const std::string& name, const std::string& from,
                      const std::vector<int>& shape) {
  std::string n = std::to_string(count_of(shape)), d = dims(shape);
  return "  %" + name + "r: tile<" + n + "xi32> = arange {start=0, end=" + n + "}\n" +  //
         "  %" + name + "s: tile<" + d + "i32> = reshape %" + name + "r\n" + "  %" + name +
         "b: tile<" + d + "ptr<i32>> = splat %" + from + "\n" + "  %" + name + "p: tile<" + d +
         "ptr<i32>> = ptr_add %" + name + "b, %" + name + "s\n" + "  %" + name + ": tile<" + d +
         "i32> = load %" + name + "p\n";
}

std::string store_tile(const std::string& value, const std::string& to,
                       const std::vector<int>& shape) {
  std::string n = std::to_string(count_of(shape)), d = dims(shape);
  return "  %" + value + "_r: tile<" + n + "xi32> = arange {start=0, end=" + n + "}\n" + "  %" +
         value + "_s: tile<" + d + "i32> = reshape %" + value + "_r\n" + "  %" + value +
         "_b: tile<" + d + "ptr<i32>> = splat %" + to + "\n" + "  %" + value + "_p: tile<" + d +
         "ptr<i32>> = ptr_add %" + value + "_b, %" + value + "_s\n  store %" + value + "_p, %" +
         value + "\n";
}

// out = ops(x): both i32, `ops` turn %x into %y. Also with a lazy operand (x + x) in front, so that
// the op sees both a buffer and an expression.
void check(const std::vector<int>& in, const std::vector<int>& out, const std::string& ops) {
  for (bool lazy : {false, true}) {
    std::string text =
        "kernel @k(%in: ptr<i32>, %out: ptr<i32>) {\n" + load_tile(lazy ? "w" : "x", "in", in);
    if (lazy) text += "  %x: tile<" + dims(in) + "i32> = add %w, %wr2\n";
    if (lazy) {
      std::string n = std::to_string(count_of(in));
      std::string more = "  %wq: tile<" + n + "xi32> = arange {start=0, end=" + n +
                         "}\n  %wr2: tile<" + dims(in) + "i32> = reshape %wq\n";
      text.insert(text.find("  %x: "), more);
    }
    text += ops + store_tile("y", "out", out) + "  return\n}\n";
    Arguments arguments{{Array::of(Dtype::kI32, ramp(static_cast<size_t>(count_of(in)))),
                         Array::zeros(Dtype::kI32, static_cast<size_t>(count_of(out)))},
                        {},
                        {1, 1, 1},
                        {},
                        {}};
    compare(text, arguments, ops);
  }
}

TEST(Shapes, Reshape) {
  check({64}, {8, 8}, "  %y: tile<8x8xi32> = reshape %x\n");
  check({4, 16}, {16, 4}, "  %y: tile<16x4xi32> = reshape %x\n");
  check({2, 4, 8}, {64}, "  %y: tile<64xi32> = reshape %x\n");
  check({32, 32}, {2, 16, 4, 8}, "  %y: tile<2x16x4x8xi32> = reshape %x\n");
  check({1}, {1, 1}, "  %y: tile<1x1xi32> = reshape %x\n");
  check({1, 16, 1}, {16}, "  %y: tile<16xi32> = reshape %x\n");
}

TEST(Shapes, Permute) {
  check({32, 16}, {16, 32}, "  %y: tile<16x32xi32> = permute %x {order=[1, 0]}\n");
  check({2, 2}, {2, 2}, "  %y: tile<2x2xi32> = permute %x {order=[1, 0]}\n");
  check({4, 8, 16}, {16, 4, 8}, "  %y: tile<16x4x8xi32> = permute %x {order=[2, 0, 1]}\n");
  check({2, 4, 2, 8}, {2, 2, 8, 4}, "  %y: tile<2x2x8x4xi32> = permute %x {order=[0, 2, 3, 1]}\n");
}

TEST(Shapes, PermutedReshapes) {
  check({64, 8}, {16, 32},
        "  %a: tile<8x64xi32> = permute %x {order=[1, 0]}\n"
        "  %y: tile<16x32xi32> = reshape %a\n");
  check({8, 8}, {64},
        "  %a: tile<2x4x2x4xi32> = reshape %x\n"
        "  %b: tile<4x2x4x2xi32> = permute %a {order=[3, 2, 1, 0]}\n"
        "  %y: tile<64xi32> = reshape %b\n");
}

TEST(Shapes, Broadcast) {
  check({16}, {16, 32},
        "  %a: tile<16x1xi32> = expand_dims %x {axis=1}\n"
        "  %y: tile<16x32xi32> = broadcast %a\n");
  check({32}, {4, 32},
        "  %a: tile<1x32xi32> = expand_dims %x {axis=0}\n"
        "  %y: tile<4x32xi32> = broadcast %a\n");
  check({2, 1, 2}, {2, 8, 2}, "  %y: tile<2x8x2xi32> = broadcast %x\n");
  check({1}, {16}, "  %y: tile<16xi32> = broadcast %x\n");
}

TEST(Shapes, JoinAndSplit) {
  check({32}, {32, 2}, "  %a: tile<32xi32> = add %x, %x\n  %y: tile<32x2xi32> = join %x, %a\n");
  check({32, 2}, {32},
        "  %a: tile<32xi32>, %b: tile<32xi32> = split %x\n  %y: tile<32xi32> = sub %a, %b\n");
  check({4, 8, 2}, {4, 8},
        "  %a: tile<4x8xi32>, %b: tile<4x8xi32> = split %x\n"
        "  %c: tile<4x8x2xi32> = join %b, %a\n"
        "  %d: tile<4x8xi32>, %e: tile<4x8xi32> = split %c\n"
        "  %y: tile<4x8xi32> = sub %d, %e\n");
  check({2}, {8},
        "  %a: i32, %b: i32 = split %x\n  %c: i32 = sub %b, %a\n  %y: tile<8xi32> = splat %c\n");
}

TEST(Shapes, Cat) {
  check({16}, {32}, "  %a: tile<16xi32> = add %x, %x\n  %y: tile<32xi32> = cat %x, %a {axis=0}\n");
  check({2}, {4}, "  %a: tile<2xi32> = add %x, %x\n  %y: tile<4xi32> = cat %x, %a {axis=0}\n");
  check({4, 8}, {8, 8},
        "  %a: tile<4x8xi32> = add %x, %x\n  %y: tile<8x8xi32> = cat %x, %a {axis=0}\n");
  check({8, 4}, {8, 8},
        "  %a: tile<8x4xi32> = add %x, %x\n  %y: tile<8x8xi32> = cat %x, %a {axis=1}\n");
}

TEST(Shapes, HintChangesNothing) {
  check({32}, {32}, "  %y: tile<32xi32> = hint %x {kind=multiple_of, values=[4]}\n");
}

// A value with several readers, one of them by another shape.
TEST(Shapes, OneValueManyReaders) {
  check({16, 16}, {16, 16},
        "  %a: tile<16x16xi32> = mul %x, %x\n"
        "  %five: tile<16x16xi32> = const {value=5}\n"
        "  %b: tile<16x16xi32> = rem %a, %five\n"
        "  %t: tile<16x16xi32> = permute %b {order=[1, 0]}\n"
        "  %c: tile<16x16xi32> = add %b, %t\n"
        "  %y: tile<16x16xi32> = div %c, %five\n");
}

TEST(Shapes, ConstantsOfEveryType) {
  struct Case {
    Dtype dtype;
    std::string value;
  };
  for (const Case& c :
       {Case{Dtype::kI1, "1"}, Case{Dtype::kI8, "-128"}, Case{Dtype::kU8, "255"},
        Case{Dtype::kI16, "-32768"}, Case{Dtype::kU32, "4294967295"},
        Case{Dtype::kI64, "-9223372036854775807"}, Case{Dtype::kU64, "9223372036854775807"},
        Case{Dtype::kF8E4M3, "448.0"}, Case{Dtype::kF8E5M2, "-57344.0"}, Case{Dtype::kF16, "0.1"},
        Case{Dtype::kBF16, "-0.1"}, Case{Dtype::kF32, "0.1"}, Case{Dtype::kF32, "-inf"},
        Case{Dtype::kF32, "nan"}, Case{Dtype::kF64, "0.1"}}) {
    std::string d(dtype_name(c.dtype));
    std::string text = "kernel @k(%out: ptr<" + d +
                       ">) {\n  %r: tile<16xi32> = arange {start=3, end=19}\n" +
                       "  %b: tile<16xptr<" + d + ">> = splat %out\n  %p: tile<16xptr<" + d +
                       ">> = ptr_add %b, %r\n  %v: tile<16x" + d + "> = const {value=" + c.value +
                       "}\n  store %p, %v\n  %s: " + d + " = const {value=" + c.value +
                       "}\n  store %out, %s\n  return\n}\n";
    compare(text, {{Array::zeros(c.dtype, 20)}, {}, {1, 1, 1}, {}, {}}, d + " " + c.value);
  }
}

TEST(Shapes, ProgramIdsAndGrid) {
  compare(R"(
kernel @k(%out: ptr<i32>) {
  %x: i32 = program_id {axis=0}
  %y: i32 = program_id {axis=1}
  %z: i32 = program_id {axis=2}
  %gx: i32 = num_programs {axis=0}
  %gy: i32 = num_programs {axis=1}
  %gz: i32 = num_programs {axis=2}
  %a: i32 = mul %z, %gy
  %b: i32 = add %a, %y
  %c: i32 = mul %b, %gx
  %d: i32 = add %c, %x
  %p: ptr<i32> = ptr_add %out, %d
  %e: i32 = mul %d, %gz
  store %p, %e
  return
}
)",
          {{Array::zeros(Dtype::kI32, 3 * 5 * 7)}, {}, {3, 5, 7}, {}, {}});
}

}  // namespace
}  // namespace tilewright::cpu
