// scan, gather and histogram on the CPU against the interpreter.
#include "tests/unit/cpu/tiles.h"

namespace tilewright::cpu {
namespace {

std::string tile_type(const std::vector<int>& shape, const std::string& element) {
  return "tile<" + dims(shape) + element + ">";
}

// Composition of linear maps: not commutative, exact.
void scan_maps(const std::vector<int>& shape, int axis, bool reverse, bool branches = false) {
  std::string i32 = tile_type(shape, "i32");
  std::string sum = branches ? R"(    %odd: i1 = cast %a1
    %s: i32 = if %odd region() {
      %t1: i32 = add %m, %b1
      yield %t1
    } region() {
      %t2: i32 = sub %m, %b1
      yield %t2
    }
)"
                             : "    %s: i32 = add %m, %b1\n";
  std::string text =
      "kernel @k(%x: ptr<i32>, %y: ptr<i32>, %u: ptr<i32>, %v: ptr<i32>) {\n" +
      address("px", "x", shape, "i32") + address("py", "y", shape, "i32") +
      address("pu", "u", shape, "i32") + address("pv", "v", shape, "i32") + "  %a: " + i32 +
      " = load %px\n  %b: " + i32 + " = load %py\n  %ra: " + i32 + ", %rb: " + i32 +
      " = scan %a, %b {axis=" + std::to_string(axis) + (reverse ? ", reverse=1" : "") +
      "} region(%a0: i32, %b0: i32, %a1: i32, %b1: i32) {\n    %a2: i32 = mul %a0, %a1\n"
      "    %m: i32 = mul %b0, %a1\n" +
      sum + "    yield %a2, %s\n  }\n  store %pu, %ra\n  store %pv, %rb\n  return\n}\n";
  auto n = static_cast<size_t>(count_of(shape));
  Arguments arguments{{small(Dtype::kI32, n, 1, 9), small(Dtype::kI32, n, 2, 50),
                       Array::zeros(Dtype::kI32, n), Array::zeros(Dtype::kI32, n)},
                      {},
                      {1, 1, 1},
                      {},
                      {}};
  compare(text, arguments, dims(shape) + " along " + std::to_string(axis));
}

TEST(Scan, EveryAxisBothWays) {
  for (const auto& shape : std::vector<std::vector<int>>{{1},
                                                         {2},
                                                         {16},
                                                         {512},
                                                         {8, 64},
                                                         {64, 8},
                                                         {2, 2},
                                                         {1, 32},
                                                         {32, 1},
                                                         {4, 8, 16},
                                                         {16, 2, 4}})
    for (int axis = 0; axis < static_cast<int>(shape.size()); ++axis)
      for (bool reverse : {false, true}) scan_maps(shape, axis, reverse);
  scan_maps({4, 32}, 0, false, true);
  scan_maps({4, 32}, 1, true, true);
}

TEST(Scan, SumsOfEveryType) {
  for (Dtype dtype : {Dtype::kI1, Dtype::kI8, Dtype::kU16, Dtype::kI64, Dtype::kF16, Dtype::kBF16,
                      Dtype::kF32, Dtype::kF64}) {
    std::string e = name(dtype), type = tile_type({16, 32}, e);
    std::string op = dtype == Dtype::kI1 ? "xor" : "add";
    std::string text = "kernel @k(%x: ptr<" + e + ">, %o: ptr<" + e + ">) {\n" +
                       address("p", "x", {16, 32}, e) + address("q", "o", {16, 32}, e) +
                       "  %a: " + type + " = load %p\n  %s: " + type +
                       " = scan %a {axis=1} region(%l: " + e + ", %r: " + e + ") {\n    %c: " + e +
                       " = " + op + " %l, %r\n    yield %c\n  }\n  store %q, %s\n  return\n}\n";
    compare(text, {{small(dtype, 512, 3, 2), Array::zeros(dtype, 512)}, {}, {1, 1, 1}, {}, {}}, e);
  }
}

void gather(const std::vector<int>& src, const std::vector<int>& index, int axis, Dtype dtype,
            Dtype number, const std::string& source = "load %p") {
  std::string e = name(dtype), n = name(number);
  std::string text = "kernel @k(%x: ptr<" + e + ">, %i: ptr<" + n + ">, %o: ptr<" + e + ">) {\n" +
                     address("p", "x", src, e) + address("r", "i", index, n) +
                     address("q", "o", index, e) + "  %a: " + tile_type(src, e) + " = " + source +
                     "\n  %b: " + tile_type(index, n) + " = load %r\n  %c: " + tile_type(index, e) +
                     " = gather %a, %b {axis=" + std::to_string(axis) +
                     "}\n  store %q, %c\n  return\n}\n";
  auto count = static_cast<size_t>(count_of(index));
  compare(
      text,
      {{small(dtype, static_cast<size_t>(count_of(src)), 4, 100),
        small(number, count, 5, src[static_cast<size_t>(axis)] + 1), Array::zeros(dtype, count)},
       {},
       {1, 1, 1},
       {},
       {}},
      "gather of " + dims(src) + e + " by " + dims(index) + n);
}

TEST(Gather, ShapesAndTypes) {
  gather({64}, {64}, 0, Dtype::kI32, Dtype::kI32);
  gather({256}, {4}, 0, Dtype::kF32, Dtype::kI64);
  gather({1}, {32}, 0, Dtype::kF64, Dtype::kU8);
  gather({8, 32}, {8, 64}, 1, Dtype::kF16, Dtype::kI8);
  gather({32, 8}, {16, 8}, 0, Dtype::kBF16, Dtype::kU32);
  gather({4, 8, 16}, {4, 2, 16}, 1, Dtype::kI1, Dtype::kI16);
  gather({32}, {32}, 0, Dtype::kI32, Dtype::kI32, "arange {start=0, end=32}");
  gather({32}, {32}, 0, Dtype::kF32, Dtype::kI32, "const {value=2.0}");
}

TEST(Histogram, TypesAndMasks) {
  for (Dtype dtype : {Dtype::kI8, Dtype::kU8, Dtype::kI32, Dtype::kU64})
    for (int bins : {1, 16, 128})
      for (bool masked : {false, true}) {
        std::string e = name(dtype), b = std::to_string(bins);
        std::string text = "kernel @k(%x: ptr<" + e + ">, %m: ptr<i1>, %o: ptr<i32>) {\n" +
                           address("p", "x", {512}, e) + address("pm", "m", {512}, "i1") +
                           address("q", "o", {bins}, "i32") + "  %a: tile<512x" + e +
                           "> = load %p\n  %mask: tile<512xi1> = load %pm\n  %h: tile<" + b +
                           "xi32> = histogram %a" + (masked ? ", %mask" : "") + " {bins=" + b +
                           "}\n  store %q, %h\n  return\n}\n";
        compare(text,
                {{small(dtype, 512, 6, 20), small(Dtype::kI1, 512, 7),
                  Array::zeros(Dtype::kI32, static_cast<size_t>(bins))},
                 {},
                 {1, 1, 1},
                 {},
                 {}},
                e + " in " + b);
      }
}

}  // namespace
}  // namespace tilewright::cpu
