// The axis analysis: what kernels rely on, by name; and soundness, by running random programs in
// the interpreter and holding every claim against the numbers.
#include "codegen/analysis/axis_info.h"

#include <gtest/gtest.h>

#include <random>

#include "codegen/analysis/axis_rules.h"
#include "codegen/interp/interp.h"
#include "codegen/ir/builder.h"

namespace tilewright::analysis {
namespace {

using ir::Op;
using ir::ValueId;

ir::Module parse(std::string_view text) {
  auto module = ir::parse("test.ir", text);
  EXPECT_TRUE(module.ok()) << (module.ok() ? "" : module.error().text());
  Status status = ir::verify(*module);
  EXPECT_TRUE(status.ok()) << (status.ok() ? "" : status.error().text());
  return *module;
}

// What is known of the value named so.
std::string known(const ir::Module& module, std::string_view name) {
  auto infos = analyze_axes(module);
  for (uint32_t i = 0; i < module.value_count(); ++i)
    if (module.value(ValueId{i}).name == name) return to_string(infos[i]);
  return "no value " + std::string(name);
}

// Widths of the loads and stores along the last axis, in order.
std::vector<int> widths(const ir::Module& module) {
  auto infos = analyze_axes(module);
  std::vector<int> result;
  ir::walk(module, module.body, [&](ir::OpId id) {
    const ir::OpNode& op = module.op(id);
    if (op.op != Op::Load && op.op != Op::Store) return;
    int rank = module.type(op.operands[0]).rank();
    result.push_back(vector_width(module, infos, id, std::max(0, rank - 1)));
  });
  return result;
}

std::string vector_add(const std::string& x, const std::string& n) {
  return "kernel @k(%x: ptr<f16>" + x + ", %n: i32" + n + R"() {
    %pid: i32 = program_id {axis=0}
    %block: i32 = const {value=1024}
    %start: i32 = mul %pid, %block
    %s: tile<1024xi32> = splat %start
    %r: tile<1024xi32> = arange {start=0, end=1024}
    %offs: tile<1024xi32> = add %s, %r
    %nn: tile<1024xi32> = splat %n
    %mask: tile<1024xi1> = cmp %offs, %nn {pred=lt}
    %xx: tile<1024xptr<f16>> = splat %x
    %p: tile<1024xptr<f16>> = ptr_add %xx, %offs
    %v: tile<1024xf16> = load %p, %mask
    store %p, %v, %mask
    return
  })";
}

TEST(AxisInfo, VectorAdd) {
  ir::Module module = parse(vector_add(" {div=16}", " {div=16}"));
  EXPECT_EQ(known(module, "offs"),
            "contiguity=[1024] divisibility=[1024] constancy=[1] non_negative");
  EXPECT_EQ(known(module, "mask"), "contiguity=[1] divisibility=[1] constancy=[16]");
  EXPECT_EQ(known(module, "p"), "contiguity=[1024] divisibility=[16] constancy=[1]");
  EXPECT_EQ(widths(module), (std::vector<int>{8, 8}));
}

TEST(AxisInfo, VectorsNeedAlignmentAndWholeMasks) {
  EXPECT_EQ(widths(parse(vector_add("", " {div=16}"))), (std::vector<int>{1, 1}));
  EXPECT_EQ(widths(parse(vector_add(" {div=8}", " {div=16}"))), (std::vector<int>{4, 4}));
  EXPECT_EQ(widths(parse(vector_add(" {div=16}", ""))), (std::vector<int>{1, 1}));
  EXPECT_EQ(widths(parse(vector_add(" {div=16}", " {div=2}"))), (std::vector<int>{2, 2}));
}

// (pid * 64 + arange) % m wraps rows or columns; runs survive when m is divisible by 16.
std::string wrapped(const std::string& m) {
  return "kernel @k(%x: ptr<f16> {div=16}, %m: i32" + m + R"(, %stride: i32 {div=16}) {
    %pid: i32 = program_id {axis=0}
    %block: i32 = const {value=64}
    %start: i32 = mul %pid, %block
    %s: tile<64xi32> = splat %start
    %r: tile<64xi32> = arange {start=0, end=64}
    %offs: tile<64xi32> = add %s, %r
    %mm: tile<64xi32> = splat %m
    %wrap: tile<64xi32> = rem %offs, %mm
    %q: tile<64xi32> = div %offs, %mm
    %w2: tile<1x64xi32> = expand_dims %wrap {axis=0}
    %w3: tile<32x64xi32> = broadcast %w2
    %k: tile<32xi32> = arange {start=0, end=32}
    %st: tile<32xi32> = splat %stride
    %ks: tile<32xi32> = mul %k, %st
    %k2: tile<32x1xi32> = expand_dims %ks {axis=1}
    %k3: tile<32x64xi32> = broadcast %k2
    %o: tile<32x64xi32> = add %k3, %w3
    %xx: tile<32x64xptr<f16>> = splat %x
    %p: tile<32x64xptr<f16>> = ptr_add %xx, %o
    %v: tile<32x64xf16> = load %p
    return
  })";
}

TEST(AxisInfo, WrappedColumns) {
  ir::Module module = parse(wrapped(" {div=16}"));
  EXPECT_EQ(known(module, "wrap"), "contiguity=[16] divisibility=[16] constancy=[1] non_negative");
  EXPECT_EQ(known(module, "q"), "contiguity=[1] divisibility=[1] constancy=[16] non_negative");
  EXPECT_EQ(known(module, "ks"), "contiguity=[1] divisibility=[16] constancy=[1]");
  EXPECT_EQ(known(module, "o"), "contiguity=[1,16] divisibility=[1,16] constancy=[1,1]");
  EXPECT_EQ(known(module, "p"), "contiguity=[1,16] divisibility=[2,16] constancy=[1,1]");
  EXPECT_EQ(widths(module), (std::vector<int>{8}));
  EXPECT_EQ(widths(parse(wrapped(""))), (std::vector<int>{1}));
}

// A run that may be negative is torn by truncating division: -1/16 is 0, like 0/16.
TEST(AxisInfo, NegativeRunsDoNotDivide) {
  ir::Module module = parse(R"(kernel @k(%n: i32 {div=16}) {
    %s: tile<32xi32> = splat %n
    %r: tile<32xi32> = arange {start=0, end=32}
    %x: tile<32xi32> = add %s, %r
    %c: tile<32xi32> = const {value=16}
    %q: tile<32xi32> = div %x, %c
    %m: tile<32xi32> = rem %x, %c
    %f: tile<32xi32> = const {value=4}
    %h: tile<32xi32> = shr %x, %f
    %z: i32 = const {value=0}
    return
  })");
  EXPECT_EQ(known(module, "q"), "contiguity=[1] divisibility=[1] constancy=[1]");
  EXPECT_EQ(known(module, "m"), "contiguity=[1] divisibility=[1] constancy=[1]");
  EXPECT_EQ(known(module, "h"), "contiguity=[1] divisibility=[1] constancy=[16]");
  module = parse(R"(kernel @k(%n: i32 {div=16}) {
    %z: i32 = const {value=0}
    %ok: i1 = cmp %n, %z {pred=ge}
    assume %ok
    %s: tile<32xi32> = splat %n
    %r: tile<32xi32> = arange {start=0, end=32}
    %x: tile<32xi32> = add %s, %r
    %c: tile<32xi32> = const {value=16}
    %m: tile<32xi32> = rem %x, %c
    return
  })");
  EXPECT_EQ(known(module, "m"), "contiguity=[16] divisibility=[16] constancy=[1] non_negative");
}

TEST(AxisInfo, LoopCarriedPointersKeepWhatEveryIterationKeeps) {
  auto loop = [](const std::string& step) {
    return parse("kernel @k(%x: ptr<f32> {div=16}, %n: i32, %s: i32" + step + R"() {
    %zero: i32 = const {value=0}
    %one: i32 = const {value=1}
    %r: tile<128xi32> = arange {start=0, end=128}
    %xx: tile<128xptr<f32>> = splat %x
    %p0: tile<128xptr<f32>> = ptr_add %xx, %r
    %ss: tile<128xi32> = splat %s
    %last: tile<128xptr<f32>> = for %zero, %n, %one, %p0
        region(%i: i32, %p: tile<128xptr<f32>>) {
      %v: tile<128xf32> = load %p
      %next: tile<128xptr<f32>> = ptr_add %p, %ss
      yield %next
    }
    return
  })");
  };
  EXPECT_EQ(widths(loop(" {div=16}")), (std::vector<int>{4}));
  EXPECT_EQ(widths(loop(" {div=2}")), (std::vector<int>{2}));
  EXPECT_EQ(widths(loop("")), (std::vector<int>{1}));
}

TEST(AxisInfo, ControlFlowMeets) {
  ir::Module module = parse(R"(kernel @k(%a: i32 {div=16}, %b: i32 {div=4}, %c: i1) {
    %m: i32 = if %c region() {
      yield %a
    } region() {
      yield %b
    }
    %zero: i32 = const {value=0}
    %w: i32 = while %a region(%x: i32) {
      %go: i1 = cmp %x, %zero {pred=gt}
      condition %go, %x
    } region(%y: i32) {
      %z: i32 = add %y, %b
      yield %z
    }
    return
  })");
  EXPECT_EQ(known(module, "m"), "contiguity=[1] divisibility=[4] constancy=[1]");
  EXPECT_EQ(known(module, "w"), "contiguity=[1] divisibility=[4] constancy=[1]");
}

TEST(AxisInfo, Hints) {
  ir::Module module = parse(R"(kernel @k(%x: tile<64xi32>) {
    %a: tile<64xi32> = hint %x {kind=multiple_of, values=[32]}
    %b: tile<64xi32> = hint %a {kind=max_contiguous, values=[32]}
    %c: tile<64xi32> = hint %x {kind=max_constancy, values=[8]}
    return
  })");
  EXPECT_EQ(known(module, "b"), "contiguity=[32] divisibility=[32] constancy=[1]");
  EXPECT_EQ(known(module, "c"), "contiguity=[1] divisibility=[1] constancy=[8]");
}

// ---- soundness ----

// A random program over 8x16 tiles and 16-vectors of small integers, where each value is stored.
class RandomProgram {
 public:
  explicit RandomProgram(uint32_t seed) : random_(seed), builder_(module_) {
    module_.name = "random";
    module_.body = module_.add_region({});
    builder_.set_region(module_.body);
    out_ = param(ir::Type::pointer(Dtype::kI32), 16);
    pool_.push_back(param(ir::Type::scalar(Dtype::kI32), 16));
    pool_.push_back(param(ir::Type::scalar(Dtype::kI32), 4));
    pool_.push_back(param(ir::Type::scalar(Dtype::kI32), 1));
    pool_.push_back(builder_.make(Op::ProgramId, {}, {{"axis", int64_t{0}}}));
    ir::Type vector = ir::Type::tile(Dtype::kI32, {16});
    ValueId run = builder_.make(Op::Arange, {}, arange());
    for (int i = 0; i < 4; ++i) {  // what index arithmetic starts from
      ValueId start = builder_.make_as(Op::Splat, vector, {pool_[i]});
      pool_.push_back(builder_.make(Op::Add, {start, run}));
      widen(pool_.back());
    }
    for (int i = 0; i < 40; ++i) grow();
    for (ValueId value : pool_) store(value);
    builder_.make_op(Op::Return, {}, {}, {});
  }

  void check() {
    Status status = ir::verify(module_);
    ASSERT_TRUE(status.ok()) << status.error().text();
    auto infos = analyze_axes(module_);
    const int64_t parameters[][3] = {{32, 12, 5}, {48, 4, -7}, {16, -20, 1}, {64, 8, 3}};
    for (const auto& p : parameters) {
      std::vector<int32_t> memory(static_cast<size_t>(stored_), 0);
      uint64_t arguments[] = {reinterpret_cast<uint64_t>(memory.data()),
                              static_cast<uint64_t>(p[0]), static_cast<uint64_t>(p[1]) & 0xffffffff,
                              static_cast<uint64_t>(p[2]) & 0xffffffff};
      Launch launch;
      launch.grid = {3, 1, 1};  // the last program's values stay
      launch.arguments = arguments;
      Status run = interp::run(module_, launch);
      ASSERT_TRUE(run.ok()) << run.error().text();
      for (auto [value, place] : places_)
        check_claims(value, infos[value.index], memory.data() + place);
    }
  }

 private:
  ValueId param(ir::Type type, int64_t divisibility) {
    module_.params.push_back({"p" + std::to_string(module_.params.size()), divisibility});
    return module_.add_region_arg(module_.body, type, module_.params.back().name);
  }
  int64_t number(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(random_() % (high - low + 1));
  }
  ValueId any() { return pool_[random_() % pool_.size()]; }

  // A value of the same type as `like`.
  ValueId partner(ValueId like) {
    std::vector<ValueId> fitting;
    for (ValueId v : pool_)
      if (module_.type(v) == module_.type(like)) fitting.push_back(v);
    return fitting[random_() % fitting.size()];
  }
  ValueId constant(const ir::Type& type) {
    static constexpr int64_t kValues[] = {0, 1, 2, 3, 4, 7, 8, 15, 16, 24, 31, -1, -8, 100};
    return builder_.constant_int(type, kValues[random_() % std::size(kValues)]);
  }

  void grow() {
    ValueId x = any();
    const ir::Type type = module_.type(x);
    switch (random_() % 8) {
      case 0:
        if (type.is_scalar())
          return pool_.push_back(builder_.make_as(Op::Splat, type.with_shape({16}), {x}));
        if (type.rank() == 1) return widen(x);
        return pool_.push_back(builder_.make_as(Op::Reshape, type.with_shape({4, 32}), {x}));
      case 1:
        return pool_.push_back(builder_.make(Op::Arange, {}, arange()));
      case 2:
        return pool_.push_back(constant(type));
      default:
        return binary(x);
    }
  }
  ir::Attrs arange() {
    int64_t start = number(0, 3) * 8;
    return {{"start", start}, {"end", start + 16}};
  }
  void widen(ValueId x) {
    const ir::Type type = module_.type(x);
    bool column = random_() % 2;  // 16x1 -> 16x8, or 1x16 -> 8x16 …
    ValueId expanded = builder_.make(Op::ExpandDims, {x}, {{"axis", int64_t{column}}});
    ir::Shape shape = column ? ir::Shape{16, 8} : ir::Shape{8, 16};
    ValueId wide = builder_.make_as(Op::Broadcast, type.with_shape(shape), {expanded});
    if (column) wide = builder_.make(Op::Permute, {wide}, {{"order", std::vector<int64_t>{1, 0}}});
    pool_.push_back(wide);
  }
  void binary(ValueId x) {
    static constexpr Op kOps[] = {Op::Add, Op::Add, Op::Sub, Op::Mul, Op::Div, Op::Rem, Op::And,
                                  Op::Or,  Op::Xor, Op::Min, Op::Max, Op::Shl, Op::Shr};
    Op op = kOps[random_() % std::size(kOps)];
    const ir::Type type = module_.type(x);
    ValueId y = random_() % 2 ? partner(x) : constant(type);
    if (op == Op::Div || op == Op::Rem) {  // divisors: the positive parameter or constants
      y = builder_.constant_int(type, number(0, 1) ? 16 : number(-8, 8));
      if (random_() % 3 == 0 && type.is_tile()) y = builder_.make_as(Op::Splat, type, {pool_[0]});
    }
    if (op == Op::Shl || op == Op::Shr) y = builder_.constant_int(type, number(0, 5));
    if (op == Op::Mul) {  // stay far from overflow
      ValueId mask = builder_.constant_int(type, 255);
      x = builder_.make(Op::Rem, {x, mask});
      y = builder_.make(Op::Rem, {y, mask});
    }
    if (random_() % 4 == 0) {
      static constexpr const char* kPreds[] = {"eq", "ne", "lt", "le", "gt", "ge"};
      ValueId cond = builder_.make(Op::Cmp, {x, y}, {{"pred", std::string(kPreds[random_() % 6])}});
      if (random_() % 2) {
        pool_.push_back(builder_.make(
            Op::Select, {cond, builder_.constant_int(type, 1), builder_.constant_int(type, 0)}));
        return;
      }
      ValueId a = partner(x);
      pool_.push_back(builder_.make(Op::Select, {cond, a, partner(a)}));
      return;
    }
    ValueId result = builder_.make(op, {x, y});
    if (op == Op::Shl) result = builder_.make(Op::Rem, {result, builder_.constant_int(type, 4096)});
    pool_.push_back(result);
  }

  void store(ValueId value) {
    const ir::Type type = module_.type(value);
    int64_t count = type.element_count();
    ir::Type flat = type.with_shape({count});
    ValueId x = type.is_scalar()   ? builder_.make_as(Op::Splat, flat, {value})
                : type.rank() == 1 ? value
                                   : builder_.make_as(Op::Reshape, flat, {value});
    ValueId base = builder_.make_as(Op::Splat, ir::Type{Dtype::kI32, true, {count}}, {out_});
    ValueId offsets = builder_.make(Op::Add, {builder_.constant_int(flat, stored_), iota(count)});
    builder_.make_op(Op::Store, {builder_.make(Op::PtrAdd, {base, offsets}), x}, {}, {});
    places_.push_back({value, stored_});
    stored_ += count;
  }
  ValueId iota(int64_t count) {
    return builder_.make(Op::Arange, {}, {{"start", int64_t{0}}, {"end", count}});
  }

  void check_claims(ValueId value, const AxisInfo& info, const int32_t* x) {
    const ir::Type& type = module_.type(value);
    ir::Shape shape = type.is_scalar() ? ir::Shape{1} : type.shape;
    bool holds = true;
    for (int64_t i = 0; i < type.element_count(); ++i) {
      if (info.constant) holds &= x[i] == *info.constant;
      if (info.non_negative) holds &= x[i] >= 0;
      int64_t stride = 1;
      for (int d = static_cast<int>(shape.size()) - 1; d >= 0; --d) {
        int64_t at = i / stride % shape[d];
        int64_t in_run = at % info.contiguity[d], in_block = at % info.constancy[d];
        holds &= info.contiguity[d] <= shape[d] && info.constancy[d] <= shape[d];
        holds &= x[i] == x[i - in_run * stride] + in_run;
        holds &= x[i] == x[i - in_block * stride];
        if (in_run == 0) holds &= x[i] % info.divisibility[d] == 0;
        stride *= shape[d];
      }
    }
    ASSERT_TRUE(holds) << "value " << value.index << " " << to_string(info) << "\n"
                       << ir::print(module_);
    claims_ += info.constant || info.non_negative || info.element_divisor() > 1;
  }

  std::mt19937 random_;
  ir::Module module_;
  ir::Builder builder_;
  ValueId out_;
  std::vector<ValueId> pool_;
  std::vector<std::pair<ValueId, int64_t>> places_;
  int64_t stored_ = 0;

 public:
  int claims_ = 0;  // values of which something was known
};

TEST(AxisInfo, ClaimsHoldOnRandomPrograms) {
  int claims = 0;
  for (uint32_t seed = 1; seed <= 100 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomProgram program(seed);
    program.check();
    claims += program.claims_;
  }
  EXPECT_GT(claims, 1000);
}

}  // namespace
}  // namespace tilewright::analysis
