#include "tests/unit/ir/random_ir.h"

#include <algorithm>
#include <functional>
#include <limits>

#include "codegen/ir/builder.h"
#include "codegen/ir/verifier.h"
#include "codegen/passes/fold.h"
#include "dsl/base/check.h"
#include "dsl/base/numeric.h"

namespace tilewright::ir {

uint64_t Random::next() {
  uint64_t z = state_ += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

uint64_t random_bits(Random& random, Dtype dtype) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  // The neutral elements of most ops come up often.
  if (random.chance(40)) {
    int small = random.below(4) - 1;
    if (is_float(dtype)) return float_to_bits(small == 2 ? -0.0 : small, dtype);
    return int_to_bits(small, dtype);
  }
  constexpr double kFloats[] = {0.0,        -0.0, 1.0,   -1.0,    2.0,      -0.5,
                                3.0,        8.0,  1e30,  1e-30,   1e-40,    kInfinity,
                                -kInfinity, 0.1,  448.0, 0x1p127, 0x1p-149, 0x1p-1074};
  constexpr int64_t kInts[] = {0, 1, -1, 2, 3, 5, 7, 8, 31, 32, 63, 64, -2, -128, 127, 255};
  if (is_float(dtype)) {
    if (random.chance(5)) return float_to_bits(std::numeric_limits<double>::quiet_NaN(), dtype);
    double value = random.chance(60) ? kFloats[random.below(std::size(kFloats))]
                                     : static_cast<double>(random.below(2000) - 1000) / 64;
    return float_to_bits(value, dtype);
  }
  if (random.chance(60)) return int_to_bits(kInts[random.below(std::size(kInts))], dtype);
  uint64_t sign = uint64_t{1} << (dtype_bits(dtype) - 1);
  if (random.chance(40)) return random.chance(50) ? sign : sign - 1;
  return int_to_bits(static_cast<int64_t>(random.next()), dtype);
}

namespace {

const Shape kShapes[] = {{}, {}, {1}, {8}, {8}, {4, 2}, {2, 4}, {1, 8}, {8, 1}, {4, 4}, {2, 2, 2}};
constexpr int kDtypes = static_cast<int>(Dtype::kF64) + 1;
constexpr const char* kHints[] = {"", "", "x", "acc", "x.1", "mask"};

class Generator {
 public:
  Generator(uint64_t seed, int statements)
      : random_(seed), builder_(module_), statements_(statements) {}

  Module run() {
    start();
    while (statements_ > 0) statement();
    for (int i = 0; i < 8; ++i) store_some();
    builder_.make_op(Op::Return, {}, {}, {});
    return std::move(module_);
  }

  Module run_expressions() {
    start();
    pool_.clear();
    bool move = random_.chance(30);
    storing_ = false;
    Dtype type = dtypes_[0];
    for (Dtype dtype : {type, type, type, Dtype::kI1, dtypes_[1]}) {
      Shape shape = move ? Shape{2, 4, 4} : Shape{32};
      keep(builder_.make(Op::Load, {numbered(dtype, shape, random_.chance(50) ? 0 : 32)}));
    }
    shapes_.assign(3, Shape{32});
    constants_ = 50;
    while (statements_-- > 0) move&& random_.chance(80) ? shape() : elementwise();
    std::vector<int> used(kDtypes);
    for (ValueId value : std::vector(pool_)) {
      Type stored = module_.type(value);
      int& place = used[static_cast<size_t>(stored.dtype)];
      auto count = static_cast<int>(stored.element_count());
      if (kRandomElements + place + count > kBufferElements) continue;
      ValueId pointer = numbered(stored.dtype, stored.shape, kRandomElements + place);
      builder_.make_op(Op::Store, {pointer, value}, {}, {});
      place += count;
    }
    builder_.make_op(Op::Return, {}, {}, {});
    return std::move(module_);
  }

 private:
  void start() {
    module_.name = "random";
    module_.body = module_.add_region({});
    builder_.set_region(module_.body);
    // Few types a module, so that its values meet.
    for (int i = 0; i < 3; ++i) {
      dtypes_.push_back(static_cast<Dtype>(random_.below(kDtypes)));
      shapes_.push_back(kShapes[random_.below(std::size(kShapes))]);
    }
    for (int i = 0; i < kDtypes; ++i) {
      auto dtype = static_cast<Dtype>(i);
      buffers_.push_back(add_param("p_" + std::string(dtype_name(dtype)), Type::pointer(dtype)));
    }
    for (Dtype dtype : {Dtype::kI32, Dtype::kI64, Dtype::kF32, Dtype::kI1})
      pool_.push_back(add_param("s_" + std::string(dtype_name(dtype)), Type::scalar(dtype)));
  }

  // Pointers to the elements first, first+1, … of a buffer.
  ValueId numbered(Dtype dtype, const Shape& shape, int64_t first) {
    ValueId base = buffers_[static_cast<size_t>(dtype)];
    if (shape.empty())
      return builder_.make(Op::PtrAdd,
                           {base, builder_.constant_int(Type::scalar(Dtype::kI32), first)});
    int64_t count = Type::tile(dtype, shape).element_count();
    ValueId index = builder_.make(Op::Arange, {}, {{"start", first}, {"end", first + count}});
    index = builder_.make_as(Op::Reshape, Type::tile(Dtype::kI32, shape), {index});
    base = builder_.make_as(Op::Splat, Type::pointer(dtype).with_shape(shape), {base});
    return builder_.make(Op::PtrAdd, {base, index});
  }

  ValueId add_param(std::string name, Type type) {
    module_.params.push_back({name, 1});
    return module_.add_region_arg(module_.body, std::move(type), std::move(name));
  }

  // ---- values ----
  ValueId keep(ValueId id) {
    if (module_.def(id)) module_.value(id).name = kHints[random_.below(std::size(kHints))];
    pool_.push_back(id);
    return id;
  }

  // A visible value for which `good` holds, or an invalid id. Young values are preferred.
  ValueId pick(const std::function<bool(const Type&)>& good) {
    std::vector<ValueId> found;
    for (size_t i = pool_.size(); i-- > 0 && found.size() < 6;)
      if (good(module_.type(pool_[i]))) found.push_back(pool_[i]);
    return found.empty() ? ValueId{} : found[random_.below(static_cast<int>(found.size()))];
  }

  ValueId constant(const Type& type) {
    Type element = type.element();
    auto value =
        passes::constant_value(type.is_pointer ? 0 : random_bits(random_, type.dtype), element);
    TW_CHECK(value.has_value(), "a random constant has a number");
    return builder_.make_as(Op::Const, type, {}, {{"value", std::move(*value)}});
  }

  // A value of exactly this type.
  ValueId of_type(const Type& type) {
    ValueId found = pick([&](const Type& t) { return t == type; });
    if (found.valid() && !random_.chance(10)) return found;
    if (type.is_tile() && random_.chance(50))
      return keep(builder_.make_as(Op::Splat, type, {of_type(type.element())}));
    return keep(constant(type));
  }

  Dtype random_dtype() {
    return random_.chance(80) ? dtypes_[random_.below(3)]
                              : static_cast<Dtype>(random_.below(kDtypes));
  }
  Type random_type() {
    return {random_dtype(), false,
            random_.chance(80) ? shapes_[random_.below(3)]
                               : kShapes[random_.below(std::size(kShapes))]};
  }
  ValueId some_value() {
    ValueId found = pick([](const Type&) { return true; });
    return found.valid() && random_.chance(80) ? found : of_type(random_type());
  }
  ValueId some_tile() {
    ValueId found = pick([](const Type& t) { return t.is_tile(); });
    return found.valid() ? found : of_type(Type::tile(Dtype::kI32, {8}));
  }

  // ---- statements ----
  void statement() {
    --statements_;
    int kind = random_.below(100);
    if (kind < 50) return elementwise();
    if (kind < 68) return shape();
    if (kind < 73) return source();
    if (inside_reduction_) return elementwise();
    if (kind < 79) return load();
    if (kind < 84) return store_some();
    if (kind < 92) return control();
    if (kind < 93) return combine();
    if (kind < 95) return look_up();
    if (kind < 97) return dot();
    if (kind < 99) return atomic();
    other();
  }

  void statements(int count) {
    for (int i = 0; i < count && statements_ > 0; ++i) statement();
  }

  // Words and optional attributes by the op's row of the table.
  Attrs word_attrs(Op op) {
    Attrs attrs;
    for (const AttrSpec& spec : attr_specs(op))
      if (spec.kind == AttrSpec::Kind::kWord && (!spec.optional || random_.chance(40)))
        attrs.set(spec.key,
                  std::string(spec.words[random_.below(static_cast<int>(spec.words.size()))]));
    return attrs;
  }

  void elementwise() {
    std::vector<Op> ops;
    for (int i = 0; i < kOpCount; ++i)
      if (kOpTable[i].family == Family::kElementwise) ops.push_back(static_cast<Op>(i));
    Op op = random_.chance(20) ? last_op_ : ops[random_.below(static_cast<int>(ops.size()))];
    if (op == Op::PtrAdd) return;  // in load and store
    last_op_ = op;
    ValueId first = pool_.empty() || random_.chance(50) ? some_value() : pool_.back();
    Type type = module_.type(first);
    std::vector<ValueId> operands = {first};
    for (int i = 1; i < operand_spec(op).minimum; ++i)
      operands.push_back(random_.chance(constants_) ? constant(type)
                         : random_.chance(15)       ? first
                                                    : of_type(type));
    if (random_.chance(30)) std::reverse(operands.begin(), operands.end());
    if (op == Op::Select) operands[0] = of_type(Type::tile(Dtype::kI1, type.shape));
    Type result = op == Op::Cmp ? type.with_dtype(Dtype::kI1) : type;
    if (op == Op::Cast || op == Op::Bitcast) result = type.with_dtype(random_dtype());
    // The bits of a NaN are not defined, so nothing looks at them.
    if (op == Op::Bitcast && is_float(type.dtype)) return;
    if (op == Op::Select) result = type;
    if (op == Op::Select) operands[1] = of_type(type);
    Attrs attrs = word_attrs(op);
    // Types that the op does not take are the verifier's to know.
    OpId id = module_.add_op(op, {}, operands, attrs, {result});
    if (!check_op_types(module_, module_.op(id)).empty()) return;
    module_.append(builder_.region(), id);
    ValueId value = keep(module_.op(id).results[0]);
    if (storing_ && !inside_reduction_ && random_.chance(40)) store(value);
  }

  void source() {
    switch (random_.below(4)) {
      case 0:
        return void(keep(builder_.make(Op::ProgramId, {}, {{"axis", int64_t{random_.below(3)}}})));
      case 1:
        return void(
            keep(builder_.make(Op::NumPrograms, {}, {{"axis", int64_t{random_.below(3)}}})));
      case 2: {
        int64_t start = random_.below(9) - 4, count = int64_t{1} << random_.below(4);
        return void(
            keep(builder_.make(Op::Arange, {}, {{"start", start}, {"end", start + count}})));
      }
      default:
        return void(keep(constant(random_type())));
    }
  }

  void shape() {
    ValueId x = some_tile();
    Type type = module_.type(x);
    int rank = type.rank();
    auto axis = static_cast<int64_t>(random_.below(rank));
    switch (random_.below(9)) {
      case 0: {
        ValueId scalar = pick([](const Type& t) { return t.is_scalar(); });
        if (!scalar.valid()) return;
        Shape to = kShapes[2 + random_.below(std::size(kShapes) - 2)];
        keep(builder_.make_as(Op::Splat, module_.type(scalar).with_shape(to), {scalar}));
        return;
      }
      case 1: {
        Shape to = type.shape;
        for (int64_t& extent : to)
          if (extent == 1 && random_.chance(70)) extent = 4;
        keep(builder_.make_as(Op::Broadcast, type.with_shape(to), {x}));
        return;
      }
      case 2:
        if (rank >= 4) return;
        keep(builder_.make(Op::ExpandDims, {x}, {{"axis", int64_t{random_.below(rank + 1)}}}));
        return;
      case 3: {
        Shape to = {type.element_count()};
        if (to[0] >= 4 && random_.chance(50)) to = {to[0] / 4, 2, 2};
        if (to[0] >= 2 && random_.chance(50)) to = {2, to[0] / 2};
        if (type.with_shape(to).element_count() != type.element_count()) return;
        keep(builder_.make_as(Op::Reshape, type.with_shape(to), {x}));
        return;
      }
      case 4: {
        std::vector<int64_t> order;
        for (int i = 0; i < rank; ++i)
          order.insert(order.begin() + random_.below(i + 1), int64_t{i});
        keep(builder_.make(Op::Permute, {x}, {{"order", order}}));
        return;
      }
      case 5:
        if (rank >= 4 || type.element_count() > 64) return;
        keep(builder_.make(Op::Join, {x, of_type(type)}));
        return;
      case 6:
        if (type.shape.back() != 2) return;
        return split(x, type);
      case 7:
        if (type.element_count() > 64) return;
        keep(builder_.make(Op::Cat, {x, of_type(type)}, {{"axis", axis}}));
        return;
      default:
        if (is_float(type.dtype)) return;
        keep(builder_.make(Op::Hint, {x},
                           {{"kind", std::string("multiple_of")},
                            {"values", std::vector<int64_t>(static_cast<size_t>(rank), 1)}}));
    }
  }

  void split(ValueId x, Type type) {
    type.shape.pop_back();
    OpId id = builder_.make_op(Op::Split, {x}, {}, {type, type});
    for (int i = 0; i < 2; ++i) keep(module_.op(id).results[i]);
  }

  // ---- memory ----

  // Pointers into the buffer of a dtype, of this shape, all within.
  ValueId pointers(Dtype dtype, const Shape& shape) {
    Dtype index = random_.chance(50) ? Dtype::kI32 : random_.chance(50) ? Dtype::kU8 : Dtype::kI64;
    Type type = Type::tile(index, shape);
    ValueId mask = builder_.constant_int(type, kRandomElements - 1);
    ValueId offset = builder_.make(Op::And, {of_type(type), mask});
    ValueId base = buffers_[static_cast<size_t>(dtype)];
    if (!shape.empty())
      base = builder_.make_as(Op::Splat, Type::pointer(dtype).with_shape(shape), {base});
    return builder_.make(Op::PtrAdd, {base, offset});
  }

  void load() {
    Type type = random_type();
    std::vector<ValueId> operands = {pointers(type.dtype, type.shape)};
    if (random_.chance(50)) operands.push_back(of_type(Type::tile(Dtype::kI1, type.shape)));
    if (operands.size() == 2 && random_.chance(50)) operands.push_back(of_type(type));
    keep(builder_.make(Op::Load, std::move(operands), word_attrs(Op::Load)));
  }

  void store_some() { store(some_value()); }

  void store(ValueId value) {
    Type type = module_.type(value);
    std::vector<ValueId> operands = {pointers(type.dtype, type.shape), value};
    if (random_.chance(40)) operands.push_back(of_type(Type::tile(Dtype::kI1, type.shape)));
    builder_.make_op(Op::Store, std::move(operands), word_attrs(Op::Store), {});
  }

  void atomic() {
    Type type = random_type();
    std::vector<ValueId> operands = {pointers(type.dtype, type.shape), of_type(type)};
    bool cas = random_.chance(30);
    if (cas) operands.push_back(of_type(type));
    if (!cas && random_.chance(40)) operands.push_back(of_type(Type::tile(Dtype::kI1, type.shape)));
    Op op = cas ? Op::AtomicCas : Op::AtomicRmw;
    // An exchange compares the bits of floats, NaN included.
    if (cas && is_float(type.dtype)) return;
    OpId id = module_.add_op(op, {}, std::move(operands), word_attrs(op), {type});
    if (!check_op_types(module_, module_.op(id)).empty()) return;
    // The order of bits decides max and min of floats.
    std::string_view what = module_.op(id).attrs.get_word("op");
    if (is_float(type.dtype) && (what == "max" || what == "min")) return;
    module_.append(builder_.region(), id);
    keep(module_.op(id).results[0]);
  }

  // ---- regions ----

  // Fills a region; `finish` adds the terminator.
  void region(RegionId id, int count, const std::function<void()>& finish) {
    RegionId outer = builder_.region();
    size_t scope = pool_.size();
    builder_.set_region(id);
    for (ValueId arg : std::vector(module_.region(id).args)) pool_.push_back(arg);
    ++depth_;
    statements(random_.below(count + 1));
    finish();
    --depth_;
    pool_.resize(scope);
    builder_.set_region(outer);
  }

  void yield(const std::vector<Type>& types) {
    std::vector<ValueId> values;
    for (const Type& type : types) values.push_back(of_type(type));
    builder_.yield(std::move(values));
  }

  std::vector<ValueId> some_values(int count) {
    std::vector<ValueId> values;
    for (int i = 0; i < count; ++i) values.push_back(some_value());
    return values;
  }
  std::vector<Type> types_of(const std::vector<ValueId>& values) {
    std::vector<Type> types;
    for (ValueId value : values) types.push_back(module_.type(value));
    return types;
  }

  void keep_results(OpId id) {
    for (ValueId result : std::vector(module_.op(id).results)) keep(result);
  }

  void control() {
    if (depth_ >= 3) return elementwise();
    switch (random_.below(3)) {
      case 0:
        return loop();
      case 1:
        return branch();
      default:
        return while_loop();
    }
  }

  void loop() {
    Dtype dtype = random_.chance(70) ? Dtype::kI32 : Dtype::kU8;
    auto index = [&](int64_t value) { return builder_.constant_int(Type::scalar(dtype), value); };
    bool down = dtype == Dtype::kI32 && random_.chance(30);
    ValueId lo = index(random_.below(4)), hi = index(random_.below(5));
    ValueId step = index(down ? -1 - random_.below(2) : 1 + random_.below(3));
    std::vector<ValueId> init = some_values(random_.below(4));
    std::vector<Type> types = types_of(init);
    OpId id = builder_.make_for(lo, hi, step, init);
    region(module_.op(id).regions[0], 8, [&] { yield(types); });
    keep_results(id);
  }

  void branch() {
    std::vector<Type> types;
    for (int i = random_.below(4); i > 0; --i) types.push_back(module_.type(some_value()));
    OpId id = builder_.make_if(of_type(Type::scalar(Dtype::kI1)), types);
    for (int i = 0; i < 2; ++i) region(module_.op(id).regions[i], 6, [&] { yield(types); });
    keep_results(id);
  }

  // Carries a counter besides random values, so that it ends.
  void while_loop() {
    Type counter = Type::scalar(Dtype::kI32);
    std::vector<ValueId> init = {builder_.constant_int(counter, random_.below(5))};
    for (ValueId value : some_values(random_.below(3))) init.push_back(value);
    std::vector<Type> types = types_of(init);
    OpId id = builder_.make_while(init);
    RegionId before = module_.op(id).regions[0], body = module_.op(id).regions[1];
    // The counter is not offered to random ops, which could pass something else on.
    region(before, 3, [&] {
      ValueId count = module_.region(before).args[0];
      ValueId limit = builder_.constant_int(counter, 3);
      ValueId more = builder_.make(Op::Cmp, {count, limit}, {{"pred", std::string("lt")}});
      std::vector<ValueId> operands = {more, count};
      for (size_t i = 1; i < types.size(); ++i) operands.push_back(of_type(types[i]));
      builder_.make_op(Op::Condition, std::move(operands), {}, {});
    });
    region(body, 5, [&] {
      ValueId one = builder_.constant_int(counter, 1);
      std::vector<ValueId> operands = {builder_.make(Op::Add, {module_.region(body).args[0], one})};
      for (size_t i = 1; i < types.size(); ++i) operands.push_back(of_type(types[i]));
      builder_.yield(std::move(operands));
    });
    keep_results(id);
  }

  // Reductions and scans. The region need not be associative: the interpreter's order is fixed.
  void combine() {
    Op op = random_.chance(60) ? Op::Reduce : Op::Scan;
    ValueId first = some_tile();
    Shape shape = module_.type(first).shape;
    std::vector<ValueId> operands = {first};
    while (operands.size() < 3 && random_.chance(40))
      operands.push_back(of_type(random_type().with_shape(shape)));
    if (op == Op::Scan)
      for (ValueId operand : operands)
        if (module_.type(operand).is_pointer) return;
    auto axis = static_cast<int64_t>(random_.below(static_cast<int>(shape.size())));
    Attrs attrs{{"axis", axis}};
    if (op == Op::Scan && random_.chance(50)) attrs.set("reverse", int64_t{1});
    auto types = infer_types(module_, op, operands, attrs, {});
    OpId id = builder_.make_op(op, operands, attrs, types.value());
    RegionId body = module_.add_region(id);
    std::vector<Type> elements;
    for (ValueId operand : operands) elements.push_back(module_.type(operand).element());
    for (int side = 0; side < 2; ++side)
      for (const Type& element : elements) module_.add_region_arg(body, element);
    std::vector<ValueId> outer = std::exchange(pool_, {});
    inside_reduction_ = true;
    region(body, 4, [&] { yield(elements); });
    inside_reduction_ = false;
    pool_ = std::move(outer);
    keep_results(id);
  }

  void look_up() {
    ValueId src = some_tile();
    const Type type = module_.type(src);
    if (type.is_pointer) return;
    if (random_.chance(40)) {
      ValueId x = of_type(Type::tile(Dtype::kI32, {8}));
      std::vector<ValueId> operands = {x};
      if (random_.chance(50)) operands.push_back(of_type(Type::tile(Dtype::kI1, {8})));
      keep(builder_.make(Op::Histogram, operands, {{"bins", int64_t{4}}}));
      return;
    }
    auto axis = static_cast<int64_t>(random_.below(static_cast<int>(type.shape.size())));
    ValueId index = of_type(Type::tile(random_.chance(50) ? Dtype::kI32 : Dtype::kU8, type.shape));
    keep(builder_.make(Op::Gather, {src, index}, {{"axis", axis}}));
  }

  void dot() {
    constexpr std::pair<Dtype, Dtype> kKinds[] = {{Dtype::kF16, Dtype::kF32},
                                                  {Dtype::kBF16, Dtype::kF32},
                                                  {Dtype::kF32, Dtype::kF32},
                                                  {Dtype::kI8, Dtype::kI32},
                                                  {Dtype::kF64, Dtype::kF64}};
    auto [from, to] = kKinds[random_.below(std::size(kKinds))];
    ValueId a = of_type(Type::tile(from, {4, 2})), b = of_type(Type::tile(from, {2, 4}));
    keep(builder_.make(Op::Dot, {a, b, of_type(Type::tile(to, {4, 4}))}, word_attrs(Op::Dot)));
  }

  void other() {
    if (random_.chance(50)) return void(builder_.make_op(Op::Barrier, {}, {}, {}));
    ValueId x = some_value();
    if (!is_int(module_.type(x).dtype)) return;
    ValueId cond = builder_.make(Op::Cmp, {x, x}, {{"pred", std::string("eq")}});
    std::vector<ValueId> operands = {cond};
    if (random_.chance(50))
      operands.push_back(of_type(Type::tile(Dtype::kI1, module_.type(x).shape)));
    builder_.make_op(Op::Assert, std::move(operands), {{"message", std::string("x == x")}}, {});
  }

  Random random_;
  Module module_;
  Builder builder_;
  int statements_;
  std::vector<Dtype> dtypes_;  // of most values of this module
  std::vector<Shape> shapes_;
  Op last_op_ = Op::Neg;
  bool storing_ = true;           // values are stored as they are made
  int constants_ = 30;            // percent of operands that are constants
  std::vector<ValueId> buffers_;  // by dtype
  std::vector<ValueId> pool_;     // visible values
  int depth_ = 0;
  bool inside_reduction_ = false;
};

}  // namespace

Module random_module(uint64_t seed, int statements) {
  return Generator(seed, statements).run();
}

Module random_expressions(uint64_t seed) {
  return Generator(seed, 12).run_expressions();
}

}  // namespace tilewright::ir
