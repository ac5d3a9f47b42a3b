#include "tests/unit/schedule/random_loop.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>

namespace tilewright::schedule {
namespace {

class Generator {
 public:
  explicit Generator(uint64_t seed) : random_(seed) {}

  RandomLoop run() {
    choose_bounds();
    outside(fmt::format("%mul8: {0} = const {{value=8}}", type_));
    outside(fmt::format("%off32: {0} = const {{value=32}}", type_));
    make_tiles();
    dots_ = chance(75);
    if (dots_) {
      if (!constant_step_) outside(fmt::format("%jump: {0} = mul %step, %mul8", type_));
      inside("%place: " + type_ + " = add %i, %off32");
      std::string a = chance(30) ? transformed() : loaded("a", true);
      std::string b = chance(15) ? a_as_b(a) : loaded("b", false);
      inside(fmt::format("%sum: tile<16x16xf32> = dot {}, {}, %acc", a, b));
      acc_ = "%sum";
    } else {
      inside("%place: " + type_ + " = add %i, %off32");
      std::string x = chance(50) ? scale_column() : bias();
      inside(fmt::format("%sum: tile<16x16xf32> = add %acc, {}", x));
      acc_ = "%sum";
    }
    if (chance(40)) add("%biased", chance(50) ? bias() : scale_column());
    if (chance(25)) conditional();
    if (chance(30)) store_in_loop();
    return finish();
  }

 private:
  int below(int bound) { return static_cast<int>(random_() % static_cast<unsigned>(bound)); }
  bool chance(int percent) { return below(100) < percent; }
  void outside(const std::string& line) { before_ += "  " + line + "\n"; }
  void inside(const std::string& line) { body_ += "    " + line + "\n"; }
  std::string fresh(const char* hint) { return fmt::format("%{}{}", hint, next_++); }

  void choose_bounds() {
    const char* kTypes[] = {"i32", "i32", "i32", "i64", "i16"};
    type_ = kTypes[below(5)];
    constant_step_ = chance(70);
    int count = chance(40) ? below(3) : below(8);
    int step = 1 + below(3);
    if (constant_step_ && chance(30)) step = -step;
    out_.step = step;
    out_.lo = step > 0 ? below(12) - 12 : 12 - below(12);
    // Any bound within the last step gives the same iterations.
    int slack = count > 0 ? below(std::abs(step)) : -below(3) * std::abs(step);
    out_.hi = out_.lo + int64_t{count} * step - (step > 0 ? slack : -slack);
    if (count == 0) out_.hi = out_.lo - (step > 0 ? below(4) : -below(4));
    out_.n = below(20);
    if (chance(30)) {
      outside(fmt::format("%from: {} = const {{value={}}}", type_, out_.lo));
      outside(fmt::format("%to: {} = const {{value={}}}", type_, out_.hi));
      lo_ = "%from";
      hi_ = "%to";
    }
    if (constant_step_) {
      outside(fmt::format("%by: {} = const {{value={}}}", type_, step));
      step_ = "%by";
    }
  }

  void make_tiles() {
    outside("%rows: tile<16xi32> = arange {start=0, end=16}");
    outside("%ks: tile<8xi32> = arange {start=0, end=8}");
    outside("%row: tile<16x1xi32> = expand_dims %rows {axis=1}");
    outside("%col: tile<1x16xi32> = expand_dims %rows {axis=0}");
    outside("%kr: tile<1x8xi32> = expand_dims %ks {axis=0}");
    outside("%kc: tile<8x1xi32> = expand_dims %ks {axis=1}");
    outside(fmt::format("%pitch: tile<16x1xi32> = const {{value={}}}", kPitch));
    outside("%rowp: tile<16x1xi32> = mul %row, %pitch");
    outside("%pitch2: tile<1x16xi32> = const {value=" + std::to_string(kPitch) + "}");
    outside("%colp: tile<1x16xi32> = mul %col, %pitch2");
    outside("%ra: tile<16x8xi32> = broadcast %rowp");
    outside("%ka: tile<16x8xi32> = broadcast %kr");
    outside("%at_a: tile<16x8xi32> = add %ra, %ka");
    outside("%cb: tile<8x16xi32> = broadcast %colp");
    outside("%kb: tile<8x16xi32> = broadcast %kc");
    outside("%at_b: tile<8x16xi32> = add %cb, %kb");
    outside("%acc0: tile<16x16xf32> = const {value=0.0}");
  }

  // The first element of an iteration's block of k, as an i32 scalar.
  std::string block() {
    std::string name = fresh("block");
    int kind = below(5);
    std::string place = "%place";
    if (kind >= 3) {  // through memory, once or twice
      place = fresh("i");
      std::string p = fresh("p");
      inside(fmt::format("{}: ptr<i32> = ptr_add %idx, %place", p));
      inside(fmt::format("{}: i32 = load {}", place, p));
      if (kind == 4) {
        std::string q = fresh("q"), again = fresh("i");
        inside(fmt::format("{}: ptr<i32> = ptr_add %idx, {}", q, place));
        inside(fmt::format("{}: i32 = load {}", again, q));
        place = again;
      }
    } else if (type_ != "i32") {
      std::string narrow = fresh("i");
      inside(fmt::format("{}: i32 = cast %place", narrow));
      place = narrow;
    }
    inside(fmt::format("{}: i32 = mul {}, %eight", name, place));
    return name;
  }

  std::string loaded(const std::string& buffer, bool is_a) {
    std::string shape = is_a ? "16x8" : "8x16", at = is_a ? "%at_a" : "%at_b";
    std::string pointers = "tile<" + shape + "xptr<f16>>", p;
    if (chance(35)) {
      p = carried_pointers(buffer, shape, at);
    } else {
      std::string s = fresh("s"), o = fresh("o"), b = fresh("b");
      p = fresh("p");
      inside(fmt::format("{}: tile<{}xi32> = splat {}", s, shape, block()));
      inside(fmt::format("{}: tile<{}xi32> = add {}, {}", o, shape, at, s));
      inside(fmt::format("{}: {} = splat %{}", b, pointers, buffer));
      inside(fmt::format("{}: {} = ptr_add {}, {}", p, pointers, b, o));
    }
    std::string value = fresh(buffer.c_str());
    inside(fmt::format("{}: tile<{}xf16> = load {}{}", value, shape, p, mask(shape, is_a)));
    return value;
  }

  // Pointers that the loop carries, from the block of lo on.
  std::string carried_pointers(const std::string& buffer, const std::string& shape,
                               const std::string& at) {
    std::string pointers = "tile<" + shape + "xptr<f16>>";
    std::string first = fresh("f"), wide = fresh("f"), base = fresh("p"), p0 = fresh("p");
    std::string moved = fresh("m"), arg = fresh("ptrs"), next = fresh("ptrs");
    outside(fmt::format("{}: {} = add {}, %off32", first, type_, lo_));
    std::string as_tile = fresh("t"), scaled = fresh("t"), eight = fresh("t");
    outside(fmt::format("{}: tile<{}x{}> = splat {}", as_tile, shape, type_, first));
    outside(fmt::format("{}: tile<{}x{}> = const {{value=8}}", eight, shape, type_));
    outside(fmt::format("{}: tile<{}x{}> = mul {}, {}", scaled, shape, type_, as_tile, eight));
    outside(fmt::format("{}: {} = splat %{}", base, pointers, buffer));
    outside(fmt::format("{}: {} = ptr_add {}, {}", wide, pointers, base, at));
    outside(fmt::format("{}: {} = ptr_add {}, {}", p0, pointers, wide, scaled));
    std::string by = fresh("by");
    if (constant_step_)
      inside(fmt::format("{}: tile<{}x{}> = const {{value={}}}", by, shape, type_, 8 * out_.step));
    else
      inside(fmt::format("{}: tile<{}x{}> = splat %jump", by, shape, type_));
    inside(fmt::format("{}: {} = ptr_add {}, {}", next, pointers, arg, by));
    carried_.push_back({arg, pointers, p0, next});
    (void)moved;
    return arg;
  }

  std::string mask(const std::string& shape, bool is_a) {
    int kind = below(4);
    if (kind == 0) return "";
    std::string limit = fresh("n"), s = fresh("s"), m = fresh("m"), wide = fresh("m");
    std::string unit = is_a ? "1x8" : "8x1", ks = is_a ? "%kr" : "%kc";
    if (kind == 1 && type_ == "i32") {
      inside(fmt::format("{}: i32 = sub %n, %i", limit));
    } else {
      limit = "%n";
    }
    if (kind == 3) {  // by row or column
      unit = is_a ? "16x1" : "1x16";
      ks = is_a ? "%row" : "%col";
    }
    inside(fmt::format("{}: tile<{}xi32> = splat {}", s, unit, limit));
    inside(fmt::format("{}: tile<{}xi1> = cmp {}, {} {{pred=lt}}", m, unit, ks, s));
    inside(fmt::format("{}: tile<{}xi1> = broadcast {}", wide, shape, m));
    if (chance(50)) return ", " + wide;
    std::string other = fresh("other");
    inside(fmt::format("{}: tile<{}xf16> = const {{value={}}}", other, shape,
                       chance(50) ? "0.0" : "1.5"));
    return ", " + wide + ", " + other;
  }

  // Bytes that become the operand.
  std::string transformed() {
    std::string s = fresh("s"), o = fresh("o"), b = fresh("b"), p = fresh("p"), x = fresh("w");
    std::string y = fresh("y"), f = fresh("f"), scale = fresh("scale"), z = fresh("z");
    inside(fmt::format("{}: tile<16x8xi32> = splat {}", s, block()));
    inside(fmt::format("{}: tile<16x8xi32> = add %at_a, {}", o, s));
    inside(fmt::format("{}: tile<16x8xptr<i8>> = splat %w", b));
    inside(fmt::format("{}: tile<16x8xptr<i8>> = ptr_add {}, {}", p, b, o));
    inside(fmt::format("{}: tile<16x8xi8> = load {}", x, p));
    inside(fmt::format("{}: tile<16x8xf16> = cast {}", y, x));
    std::string q = fresh("q");
    inside(fmt::format("{}: ptr<f32> = ptr_add %s, %place", q));
    inside(fmt::format("{}: f32 = load {}", f, q));
    std::string h = fresh("h");
    inside(fmt::format("{}: f16 = cast {}", h, f));
    inside(fmt::format("{}: tile<16x8xf16> = splat {}", scale, h));
    inside(fmt::format("{}: tile<16x8xf16> = mul {}, {}", z, y, scale));
    return z;
  }

  std::string a_as_b(const std::string& a) {
    std::string t = fresh("t");
    inside(fmt::format("{}: tile<8x16xf16> = permute {} {{order=[1, 0]}}", t, a));
    return t;
  }

  // A vector of the iteration, along the rows, as a tile.
  std::string bias() {
    std::string s = fresh("s"), o = fresh("o"), b = fresh("b"), p = fresh("p"), x = fresh("x");
    std::string e = fresh("e"), w = fresh("w");
    inside(fmt::format("{}: tile<16xi32> = splat {}", s, block()));
    inside(fmt::format("{}: tile<16xi32> = add %rows, {}", o, s));
    inside(fmt::format("{}: tile<16xptr<f32>> = splat %s", b));
    inside(fmt::format("{}: tile<16xptr<f32>> = ptr_add {}, {}", p, b, o));
    inside(fmt::format("{}: tile<16xf32> = load {}", x, p));
    inside(fmt::format("{}: tile<1x16xf32> = expand_dims {} {{axis=0}}", e, x));
    inside(fmt::format("{}: tile<16x16xf32> = broadcast {}", w, e));
    return w;
  }

  // A column of a, gathered by rows that come from memory.
  std::string scale_column() {
    std::string s = fresh("s"), o = fresh("o"), b = fresh("b"), p = fresh("p"), r = fresh("r");
    inside(fmt::format("{}: tile<16xi32> = splat {}", s, block()));
    inside(fmt::format("{}: tile<16xi32> = add %rows, {}", o, s));
    inside(fmt::format("{}: tile<16xptr<i32>> = splat %idx", b));
    inside(fmt::format("{}: tile<16xptr<i32>> = ptr_add {}, {}", p, b, o));
    inside(fmt::format("{}: tile<16xi32> = load {}", r, p));
    std::string c = fresh("c"), q = fresh("q"), x = fresh("x"), f = fresh("f"), e = fresh("e");
    std::string w = fresh("w");
    inside(fmt::format("{}: tile<16xptr<f16>> = splat %a", c));
    inside(fmt::format("{}: tile<16xptr<f16>> = ptr_add {}, {}", q, c, r));
    inside(fmt::format("{}: tile<16xf16> = load {}", x, q));
    inside(fmt::format("{}: tile<16xf32> = cast {}", f, x));
    inside(fmt::format("{}: tile<16x1xf32> = expand_dims {} {{axis=1}}", e, f));
    inside(fmt::format("{}: tile<16x16xf32> = broadcast {}", w, e));
    return w;
  }

  void add(const std::string& name, const std::string& x) {
    inside(fmt::format("{}: tile<16x16xf32> = add {}, {}", name, acc_, x));
    acc_ = name;
  }

  // A load that only some iterations reach.
  void conditional() {
    inside(fmt::format("%odd_at: ptr<i32> = ptr_add %idx, %place"));
    inside("%key: i32 = load %odd_at");
    inside("%few: i1 = cmp %key, %thirty {pred=lt}");
    inside("%maybe: tile<16x16xf32> = if %few region() {");
    inside("  %sp: ptr<f32> = ptr_add %s, %key");
    inside("  %sv: f32 = load %sp");
    inside("  %st: tile<16x16xf32> = splat %sv");
    inside(fmt::format("  %plus: tile<16x16xf32> = add {}, %st", acc_));
    inside("  yield %plus");
    inside("} region() {");
    inside(fmt::format("  yield {}", acc_));
    inside("}");
    acc_ = "%maybe";
  }

  // To a buffer of its own, or to one that loads of the loop read.
  void store_in_loop() {
    std::string buffer = chance(60) ? "%log" : "%s";
    inside(fmt::format("%lp: ptr<f32> = ptr_add {}, %place", buffer));
    inside("%top: tile<16xf32> = reduce " + acc_ + " {axis=1} region(%u: f32, %v: f32) {");
    inside("  %larger: f32 = max %u, %v");
    inside("  yield %larger");
    inside("}");
    inside("%best: f32 = reduce %top {axis=0} region(%u2: f32, %v2: f32) {");
    inside("  %larger2: f32 = max %u2, %v2");
    inside("  yield %larger2");
    inside("}");
    inside("store %lp, %best");
  }

  RandomLoop finish() {
    const char* kStages[] = {"1", "2", "3", "4", "5"};
    std::string attrs = fmt::format("num_stages={}", kStages[below(5)]);
    std::string results = "%last: tile<16x16xf32>", init = "%acc0";
    std::string args = "%acc: tile<16x16xf32>", next = acc_;
    for (const Carried& c : carried_) {
      results += fmt::format(", {}_last: {}", c.arg, c.type);
      init += ", " + c.init;
      args += fmt::format(", {}: {}", c.arg, c.type);
      next += ", " + c.next;
    }
    out_.text = fmt::format(
        "kernel @k(%a: ptr<f16> {{div=16}}, %b: ptr<f16> {{div=16}}, %w: ptr<i8> {{div=16}}, "
        "%idx: ptr<i32> {{div=16}}, %s: ptr<f32> {{div=16}}, %log: ptr<f32> {{div=16}}, "
        "%out: ptr<f32> {{div=16}}, %lo: {0}, %hi: {0}, %step: {0}, %n: i32) attributes "
        "{{num_warps=1, {1}}} {{\n"
        "  %eight: i32 = const {{value=8}}\n  %thirty: i32 = const {{value=30}}\n",
        type_, attrs);
    out_.text += before_;
    out_.text += fmt::format("  {} = for {}, {}, {}, {} region(%i: {}, {}) {{\n", results, lo_, hi_,
                             step_, init, type_, args);
    out_.text += body_ + "    yield " + next + "\n  }\n";
    out_.text +=
        "  %oc: tile<16x16xi32> = broadcast %col\n"
        "  %or: tile<16x16xi32> = broadcast %rowp\n"
        "  %oo: tile<16x16xi32> = add %oc, %or\n"
        "  %ob: tile<16x16xptr<f32>> = splat %out\n"
        "  %op: tile<16x16xptr<f32>> = ptr_add %ob, %oo\n"
        "  store %op, %last\n  return\n}\n";
    return std::move(out_);
  }

  struct Carried {
    std::string arg, type, init, next;
  };

  std::mt19937_64 random_;
  RandomLoop out_;
  std::string type_, before_, body_, acc_;
  std::string lo_ = "%lo", hi_ = "%hi", step_ = "%step";
  bool constant_step_ = false, dots_ = false;
  std::vector<Carried> carried_;
  int next_ = 0;
};

}  // namespace

RandomLoop random_loop(uint64_t seed) {
  return Generator(seed).run();
}

}  // namespace tilewright::schedule
