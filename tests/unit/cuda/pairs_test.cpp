// 16-bit values two in a register, and integers that become floats by their bits: against the
// interpreter, bit for bit.
#include "codegen/passes/passes.h"
#include "tests/unit/cuda/emit_harness.h"

namespace tilewright::cuda {
namespace {

constexpr int kSize = 1024;

std::string name(Dtype dtype) {
  return std::string(dtype_name(dtype));
}

// Runs `ops` on %x, a tile of the numbers in `in`; the last value, %y, is stored.
Comparison unary(Argument in, Dtype out, const std::string& ops) {
  auto tile = [](const std::string& element) {
    return "tile<" + std::to_string(kSize) + "x" + element + ">";
  };
  auto places = [&](const std::string& ptr, Dtype dtype) {
    return "  %" + ptr + "s: " + tile("ptr<" + name(dtype) + ">") + " = splat %" + ptr + "\n  %" +
           ptr + "q: " + tile("ptr<" + name(dtype) + ">") + " = ptr_add %" + ptr + "s, %i\n";
  };
  std::string text = ops;
  for (size_t at; (at = text.find("tile ")) != text.npos;)
    text.replace(at, 5, "tile<" + std::to_string(kSize) + "x");
  Comparison c;
  c.ir = "kernel @k(%in: ptr<" + name(in.dtype) + "> {div=16}, %out: ptr<" + name(out) +
         "> {div=16}) attributes {num_warps=4} {\n  %i: " + tile("i32") +
         " = arange {end=" + std::to_string(kSize) + ", start=0}\n" + places("in", in.dtype) +
         "  %x: " + tile(name(in.dtype)) + " = load %inq\n" + text + places("out", out) +
         "  store %outq, %y\n  return\n}\n";
  c.arguments = {std::move(in), zeros(out, kSize)};
  return c;
}

struct Cast {
  Dtype from, to;
  std::string ops;  // "tile T>" stands for the tile of T
  bool by_bits;     // no conversion is left
};

void PrintTo(const Cast& c, std::ostream* out) {
  *out << name(c.from) << " to " << name(c.to) << "\n" << c.ops;
}

// Nibble `s` of %x, widened to `wide` first, less 8.
std::string nibble(const std::string& narrow, const std::string& wide, int s,
                   const std::string& to) {
  std::string x = narrow == wide ? "%x" : "%w";
  return (narrow == wide ? "" : "  %w: tile " + wide + "> = cast %x\n") + "  %by: tile " + wide +
         "> = const {value=" + std::to_string(4 * s) + "}\n  %c15: tile " + wide +
         "> = const {value=15}\n  %t: tile " + wide + "> = shr " + x + ", %by\n  %q: tile " + wide +
         "> = and %t, %c15\n  %f: tile " + to + "> = cast %q\n  %c8: tile " + to +
         "> = const {value=8.0}\n  %y: tile " + to + "> = sub %f, %c8\n";
}

std::vector<Cast> casts() {
  std::vector<Cast> cases;
  for (Dtype to : {Dtype::kF16, Dtype::kBF16}) {
    std::string f = name(to);
    for (int s = 0; s < 4; ++s) {
      cases.push_back({Dtype::kI16, to, nibble("i16", "i16", s, f), true});
      cases.push_back({Dtype::kI16, to, nibble("i16", "i32", s, f), true});
      cases.push_back({Dtype::kU16, to, nibble("u16", "u16", s, f), true});
    }
    for (int s = 0; s < 8; ++s)
      cases.push_back({Dtype::kI32, to, nibble("i32", "i32", s, f), true});
    for (int s = 0; s < 2; ++s) {
      cases.push_back({Dtype::kI8, to, nibble("i8", "i8", s, f), true});
      cases.push_back({Dtype::kU8, to, nibble("u8", "u8", s, f), true});
    }
    std::string cast = "  %y: tile " + f + "> = cast %x\n";
    bool is_f16 = to == Dtype::kF16;
    cases.push_back({Dtype::kI8, to, cast, true});
    cases.push_back({Dtype::kU8, to, cast, is_f16});
    cases.push_back({Dtype::kI16, to, cast, false});
    // Through narrower and wider types.
    cases.push_back({Dtype::kI32, to,
                     "  %b: tile u8> = cast %x\n  %c3: tile u8> = const {value=3}\n"
                     "  %q: tile u8> = shr %b, %c3\n  %y: tile " +
                         f + "> = cast %q\n",
                     true});
    cases.push_back({Dtype::kI8, to,
                     "  %w: tile i32> = cast %x\n  %c4: tile i32> = const {value=4}\n"
                     "  %c63: tile i32> = const {value=63}\n  %s: tile i32> = shr %w, %c4\n"
                     "  %q: tile i32> = and %s, %c63\n  %y: tile " +
                         f + "> = cast %q\n",
                     true});
    cases.push_back({Dtype::kI8, to,
                     "  %c: tile i8> = const {value=-4}\n  %o: tile i8> = or %x, %c\n"
                     "  %w: tile i16> = cast %o\n  %c127: tile i16> = const {value=127}\n"
                     "  %q: tile i16> = and %w, %c127\n  %y: tile " +
                         f + "> = cast %q\n",
                     true});
    // An integer zero point.
    cases.push_back({Dtype::kI32, to,
                     "  %c15: tile i32> = const {value=15}\n  %q: tile i32> = and %x, %c15\n"
                     "  %c8: tile i32> = const {value=8}\n  %d: tile i32> = sub %q, %c8\n"
                     "  %y: tile " +
                         f + "> = cast %d\n",
                     true});
    // What is added joins the constant while it is a whole number and sums are exact.
    for (const char* added : {"1.0", "-8.0", "8.0", "-1024.0", "-128.0", "0.5", "-3000.0", "900.0"})
      for (const char* op : {"add", "sub"})
        cases.push_back({Dtype::kU16, to,
                         "  %c63: tile u16> = const {value=63}\n  %q: tile u16> = and %x, %c63\n"
                         "  %f: tile " +
                             f + "> = cast %q\n  %c: tile " + f + "> = const {value=" + added +
                             "}\n  %y: tile " + f + "> = " + op + " %f, %c\n",
                         true});
  }
  return cases;
}

class NarrowCast : public ::testing::TestWithParam<Cast> {};

TEST_P(NarrowCast, IsExact) {
  const Cast& c = GetParam();
  Comparison kernel = unary(random_bits(c.from, kSize, 7), c.to, c.ops);
  kernel.check();
  ir::Module module = kernel.module();
  passes::narrow_casts(module);
  int conversions = 0;
  ir::walk(module, module.body, [&](ir::OpId id) {
    const ir::OpNode& op = module.op(id);
    conversions += op.op == ir::Op::Cast && is_float(module.type(op.results[0]).dtype);
  });
  EXPECT_EQ(conversions, c.by_bits ? 0 : 1) << ir::print(module);
}

INSTANTIATE_TEST_SUITE_P(All, NarrowCast, ::testing::ValuesIn(casts()));

// ---- ops on pairs ----

struct Ops {
  Dtype from, to;
  std::string ops, text;  // a part of the emitted text
};

class Pairs : public ::testing::TestWithParam<Ops> {};

TEST_P(Pairs, AreExact) {
  const Ops& c = GetParam();
  Argument in = random_bits(c.from, kSize, 11);
  if (is_float(c.from)) {
    constexpr double kSpecial[] = {0.0, -0.0, INFINITY, -INFINITY, NAN, 1.0, -2.5, 65504.0};
    for (size_t i = 0; i < 64; ++i) in.set(i, float_to_bits(kSpecial[i % 8], c.from));
  }
  Comparison kernel = unary(std::move(in), c.to, c.ops);
  for (const char* target : {"sm_75", "sm_80", "sm_90"}) {
    kernel.target = target;
    kernel.check();
  }
  std::string emitted = kernel.source().value().text;
  EXPECT_NE(emitted.find(c.text), emitted.npos) << emitted;
  kernel.compiles({"sm_75", "sm_80", "sm_90"});
}

std::vector<Ops> pair_ops() {
  std::vector<Ops> cases;
  for (Dtype f : {Dtype::kF16, Dtype::kBF16}) {
    std::string t = name(f);
    std::string reverse = "  %c: tile " + t + "> = const {value=1.5}\n";
    for (const char* op : {"add", "sub", "mul", "min", "max"})
      cases.push_back({f, f,
                       reverse + "  %n: tile " + t + "> = neg %x\n  %a: tile " + t + "> = " + op +
                           " %x, %c\n  %y: tile " + t + "> = " + op + " %a, %n\n",
                       std::string("tw_") + op + "_" + t + "x2(tw_pair("});
    for (const char* op : {"min", "max"})
      cases.push_back({f, f,
                       reverse + "  %y: tile " + t + "> = " + op + " %x, %c {nan=propagate}\n",
                       std::string("tw_") + op + "_nan_" + t + "x2("});
    cases.push_back({f, f, "  %a: tile " + t + "> = abs %x\n  %y: tile " + t + "> = neg %a\n",
                     "tw_and_xor(tw_pair(x[i * 2], x[i * 2 + 1]), 0x7fff7fffu, 0x80008000u)"});
    cases.push_back({Dtype::kF32, f, "  %y: tile " + t + "> = cast %x\n",
                     "tw_pack_" + t + "(x[i * 2], x[i * 2 + 1])"});
  }
  std::string c = "  %c: tile u16> = const {value=4660}\n  %by: tile u16> = const {value=5}\n";
  std::string u = "  %y: tile u16> = ";
  cases.push_back({Dtype::kU16, Dtype::kU16,
                   c +
                       "  %a: tile u16> = or %x, %c\n  %b: tile u16> = shr %a, %by\n  %d: tile u16>"
                       " = not %b\n  %e: tile u16> = xor %d, %c\n" +
                       u + "and %e, %x\n",
                   "tw_pair(e[i * 2], e[i * 2 + 1]) & tw_pair(x[i * 2], x[i * 2 + 1])"});
  cases.push_back({Dtype::kU16, Dtype::kU16, c + u + "shl %x, %by\n", "tw_shl_x2("});
  cases.push_back({Dtype::kU8, Dtype::kU16, u + "cast %x\n", "tw_widen_bytes("});
  // An arithmetic shift stays with its elements; what comes of it does not.
  cases.push_back({Dtype::kI16, Dtype::kI16,
                   "  %by: tile i16> = const {value=5}\n  %a: tile i16> = shr %x, %by\n"
                   "  %y: tile i16> = not %a\n",
                   "tw_shr(x[i], (i16)5)"});
  return cases;
}

INSTANTIATE_TEST_SUITE_P(All, Pairs, ::testing::ValuesIn(pair_ops()));

}  // namespace
}  // namespace tilewright::cuda
