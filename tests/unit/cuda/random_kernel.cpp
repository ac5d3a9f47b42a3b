#include "tests/unit/cuda/random_kernel.h"

#include <algorithm>
#include <random>

#include "codegen/ir/builder.h"

namespace tilewright::cuda {
namespace {

using ir::Op;
using ir::Shape;
using ir::Type;
using ir::ValueId;

const Shape kShapes[] = {{},       {64},     {128},      {512},   {16, 32},
                         {32, 16}, {64, 64}, {8, 4, 16}, {1, 128}};
constexpr int64_t kMostElements = 8192;
constexpr int kMostStored = 8;

class Generator {
 public:
  Generator(uint64_t seed, const RandomKernelOptions& options)
      : random_(seed), options_(options), builder_(module_) {}

  ir::Module run() {
    module_.name = "random";
    module_.attrs.set("num_warps", int64_t{options_.warps});
    module_.body = module_.add_region({});
    builder_.set_region(module_.body);
    for (Dtype dtype : kKernelDtypes) inputs_.push_back(parameter("in_", Type::pointer(dtype)));
    for (Dtype dtype : kKernelDtypes) outputs_.push_back(parameter("out_", Type::pointer(dtype)));
    pool_.push_back(parameter("s_", Type::scalar(Dtype::kI32)));
    for (int i = 0; i < 4; ++i) load(shape());
    for (int i = 0; i < options_.statements; ++i) statement();
    store_results();
    builder_.make_op(Op::Return, {}, {}, {});
    return std::move(module_);
  }

 private:
  int below(int bound) { return static_cast<int>(random_() % static_cast<unsigned>(bound)); }
  bool chance(int percent) { return below(100) < percent; }
  template <class List>
  auto one_of(const List& list) {
    return list[static_cast<size_t>(below(static_cast<int>(std::size(list))))];
  }
  Shape shape() { return kShapes[1 + below(static_cast<int>(std::size(kShapes)) - 1)]; }

  ValueId parameter(const char* prefix, Type type) {
    std::string name = prefix + std::string(dtype_name(type.dtype));
    module_.params.push_back({name, type.is_pointer ? 16 : 1});
    return module_.add_region_arg(module_.body, type, name);
  }
  ValueId keep(ValueId value) {
    pool_.push_back(value);
    return value;
  }
  const Type& type(ValueId value) { return module_.type(value); }

  template <class Good>
  ValueId pick(Good good) {
    std::vector<ValueId> found;
    for (ValueId value : pool_)
      if (good(type(value))) found.push_back(value);
    return found.empty() ? ValueId{} : one_of(found);
  }
  ValueId some_tile() {
    ValueId found = pick([](const Type& t) { return t.is_tile(); });
    return found.valid() ? found : load(shape());
  }

  // ---- values of a given type ----
  ValueId number(Type type, int64_t value) {
    return is_float(type.dtype) ? builder_.constant_float(type, static_cast<double>(value))
                                : builder_.constant_int(type, value);
  }
  ValueId cast(ValueId x, Dtype dtype) {
    if (type(x).dtype == dtype) return x;
    return builder_.make_as(Op::Cast, type(x).with_dtype(dtype), {x});
  }
  ValueId of_type(const Type& wanted) {
    ValueId same = pick([&](const Type& t) { return t == wanted; });
    if (same.valid() && chance(80)) return same;
    ValueId like = pick([&](const Type& t) { return t.shape == wanted.shape; });
    if (like.valid() && chance(70)) return keep(cast(like, wanted.dtype));
    if (wanted.is_scalar()) return number(wanted, wanted.dtype == Dtype::kI1 ? below(2) : below(9));
    if (chance(30)) return keep(builder_.make_as(Op::Splat, wanted, {of_type(wanted.element())}));
    return cast(load(wanted.shape), wanted.dtype);
  }

  // The row-major number of each element of a shape, by one of the ways kernels write it.
  ValueId flat_index(const Shape& shape) {
    auto iota = [&](int64_t count) {
      return builder_.make(Op::Arange, {}, {{"start", int64_t{0}}, {"end", count}});
    };
    Type index = Type::tile(Dtype::kI32, shape);
    if (shape.size() != 2 || chance(30)) {
      ValueId flat = iota(index.element_count());
      return shape.size() == 1 ? flat : builder_.make_as(Op::Reshape, index, {flat});
    }
    auto along = [&](int64_t count, int64_t unit_axis, int64_t scale) {
      ValueId i = builder_.make(Op::ExpandDims, {iota(count)}, {{"axis", unit_axis}});
      i = builder_.make(Op::Mul, {i, number(type(i), scale)});
      return type(i).shape == shape ? i : builder_.make_as(Op::Broadcast, index, {i});
    };
    return builder_.make(Op::Add, {along(shape[0], 1, shape[1]), along(shape[1], 0, 1)});
  }
  ValueId pointers(ValueId base, ValueId offset) {
    Type pointer = type(base).with_shape(type(offset).shape);
    return builder_.make(Op::PtrAdd, {builder_.make_as(Op::Splat, pointer, {base}), offset});
  }
  ValueId load(const Shape& shape) {
    auto input = static_cast<size_t>(below(static_cast<int>(inputs_.size())));
    ValueId offset = flat_index(shape);
    Type index = type(offset);
    if (chance(30)) offset = builder_.make(Op::Mul, {offset, number(index, 1 + below(4))});
    if (chance(50)) {
      offset = builder_.make(Op::Add, {offset, number(index, below(64))});
      offset = builder_.make(Op::And, {offset, number(index, kInputElements - 1)});
    } else {
      offset = builder_.make(Op::And, {offset, number(index, kInputElements - 1)});
    }
    std::vector<ValueId> operands = {pointers(inputs_[input], offset)};
    if (chance(40)) operands.push_back(of_existing(Type::tile(Dtype::kI1, shape), offset));
    if (operands.size() == 2 && chance(50))
      operands.push_back(number(Type::tile(kKernelDtypes[input], shape), below(2)));
    return keep(builder_.make(Op::Load, operands));
  }
  // A mask from the pool, or from a comparison of `index` with a bound.
  ValueId of_existing(const Type& mask, ValueId index) {
    ValueId found = pick([&](const Type& t) { return t == mask; });
    if (found.valid() && chance(50)) return found;
    ValueId bound = number(type(index), below(static_cast<int>(mask.element_count()) + 1));
    return builder_.make(Op::Cmp, {index, bound}, {{"pred", std::string("lt")}});
  }

  // ---- statements ----
  void statement() {
    int kind = below(100);
    if (kind < 45) return elementwise();
    if (kind < 65) return shape_op();
    if (kind < 73) return void(load(shape()));
    if (kind < 82) return combine();
    if (kind < 84) return look_up();
    if (kind < 89 && options_.dots) return dot();
    if (depth_ < 2) return control();
    elementwise();
  }

  void elementwise() {
    ValueId a = pick([](const Type& t) { return !t.is_pointer; });
    Type t = type(a);
    auto two = [&](Op op, ir::Attrs attrs = {}) {
      keep(builder_.make(op, {a, of_type(t)}, std::move(attrs)));
    };
    if (chance(20) || is_fp8(t.dtype)) return void(keep(cast(a, one_of(kKernelDtypes))));
    if (chance(12)) {
      constexpr const char* kPredicates[] = {"eq", "ne", "lt", "le", "gt", "ge"};
      return two(Op::Cmp, {{"pred", std::string(one_of(kPredicates))}});
    }
    if (chance(12)) {
      ValueId condition = of_type(t.with_dtype(Dtype::kI1));
      return void(keep(builder_.make(Op::Select, {condition, a, of_type(t)})));
    }
    if (t.dtype == Dtype::kI1) {
      constexpr Op kLogic[] = {Op::And, Op::Or, Op::Xor};
      return chance(20) ? void(keep(builder_.make(Op::Not, {a}))) : two(one_of(kLogic));
    }
    if (is_float(t.dtype)) {
      constexpr Op kBinary[] = {Op::Add, Op::Sub, Op::Mul, Op::Min, Op::Max, Op::DivRn};
      constexpr Op kUnary[] = {Op::Neg, Op::Abs, Op::Floor, Op::Ceil};
      if (chance(10)) return void(keep(builder_.make(Op::Fma, {a, of_type(t), of_type(t)})));
      if (chance(25)) return void(keep(builder_.make(one_of(kUnary), {a})));
      Op op = one_of(kBinary);
      if (op == Op::DivRn && dtype_bits(t.dtype) < 32) op = Op::Mul;
      bool has_nan = op == Op::Min || op == Op::Max;
      return two(
          op, has_nan && chance(50) ? ir::Attrs{{"nan", std::string("propagate")}} : ir::Attrs{});
    }
    constexpr Op kBinary[] = {Op::Add, Op::Sub, Op::Mul, Op::And, Op::Or,  Op::Xor,
                              Op::Shl, Op::Shr, Op::Min, Op::Max, Op::Div, Op::Rem};
    constexpr Op kUnary[] = {Op::Neg, Op::Not, Op::Abs};
    if (chance(15)) return void(keep(builder_.make(one_of(kUnary), {a})));
    two(one_of(kBinary));
  }

  void shape_op() {
    ValueId x = some_tile();
    Type t = type(x);
    auto axis = static_cast<int64_t>(below(t.rank()));
    switch (below(8)) {
      case 0: {
        std::vector<int64_t> order(t.shape.size());
        for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int64_t>(i);
        std::shuffle(order.begin(), order.end(), random_);
        return void(keep(builder_.make(Op::Permute, {x}, {{"order", order}})));
      }
      case 1:
      case 2: {
        Shape to = {t.element_count()};
        while (to.size() < 3 && to.back() >= 4 && chance(70)) {
          int64_t inner = int64_t{1} << (1 + below(4));
          if (inner >= to.back()) break;
          to.back() /= inner;
          to.push_back(inner);
        }
        return void(keep(builder_.make_as(Op::Reshape, t.with_shape(to), {x})));
      }
      case 3:
        if (t.rank() >= 3) return;
        return void(
            keep(builder_.make(Op::ExpandDims, {x}, {{"axis", int64_t{below(t.rank() + 1)}}})));
      case 4: {
        Shape to = t.shape;
        for (int64_t& extent : to)
          if (extent == 1) extent = 4;
        if (t.with_shape(to).element_count() > kMostElements || to == t.shape) return;
        return void(keep(builder_.make_as(Op::Broadcast, t.with_shape(to), {x})));
      }
      case 5:
        if (t.rank() >= 3 || t.element_count() > kMostElements / 2) return;
        return void(keep(builder_.make(Op::Join, {x, of_type(t)})));
      case 6: {
        if (t.shape.back() != 2 || t.rank() < 2) return;
        Type half = t.with_shape(Shape(t.shape.begin(), t.shape.end() - 1));
        ir::OpId id = builder_.make_op(Op::Split, {x}, {}, {half, half});
        for (ValueId result : std::vector(module_.op(id).results)) keep(result);
        return;
      }
      default:
        if (t.element_count() > kMostElements / 2) return;
        return void(keep(builder_.make(Op::Cat, {x, of_type(t)}, {{"axis", axis}})));
    }
  }

  // Reductions and scans by one associative, commutative and exact operation; or the place of the
  // largest element.
  void combine() {
    Op kind = chance(60) ? Op::Reduce : Op::Scan;
    ValueId x = some_tile();
    Type t = type(x);
    auto axis = static_cast<int64_t>(below(t.rank()));
    if (is_fp8(t.dtype)) x = cast(x, Dtype::kF16), t = type(x);
    bool with_place = chance(30) && !is_float(t.dtype) && t.dtype != Dtype::kI1;
    std::vector<ValueId> operands = {x};
    if (with_place) operands.push_back(flat_index(t.shape));
    ir::Attrs attrs{{"axis", axis}};
    if (kind == Op::Scan && chance(50)) attrs.set("reverse", int64_t{1});
    auto types = ir::infer_types(module_, kind, operands, attrs, {}).value();
    ir::OpId id = builder_.make_op(kind, operands, attrs, types);
    ir::RegionId body = module_.add_region(id), outer = builder_.region();
    std::vector<ValueId> args;
    for (int side = 0; side < 2; ++side)
      for (ValueId operand : operands)
        args.push_back(module_.add_region_arg(body, type(operand).element()));
    builder_.set_region(body);
    if (with_place) {
      auto compare = [&](int a, int b, const char* predicate) {
        return builder_.make(Op::Cmp, {args[a], args[b]}, {{"pred", std::string(predicate)}});
      };
      ValueId first = builder_.make(
          Op::Or, {compare(0, 2, "gt"),
                   builder_.make(Op::And, {compare(0, 2, "eq"), compare(1, 3, "lt")})});
      builder_.yield({builder_.make(Op::Select, {first, args[0], args[2]}),
                      builder_.make(Op::Select, {first, args[1], args[3]})});
    } else {
      constexpr Op kFloat[] = {Op::Min, Op::Max};
      constexpr Op kLogic[] = {Op::And, Op::Or, Op::Xor};
      constexpr Op kInteger[] = {Op::Add, Op::Min, Op::Max, Op::And, Op::Or, Op::Xor, Op::Mul};
      Op op = is_float(t.dtype)       ? one_of(kFloat)
              : t.dtype == Dtype::kI1 ? one_of(kLogic)
                                      : one_of(kInteger);
      builder_.yield({builder_.make(op, {args[0], args[1]})});
    }
    builder_.set_region(outer);
    for (ValueId result : std::vector(module_.op(id).results)) keep(result);
  }

  void look_up() {
    ValueId src = some_tile();
    Type t = type(src);
    if (t.is_pointer) return;
    if (chance(40)) {
      ValueId x = load_ints({t.element_count()});
      x = builder_.make(Op::And, {x, number(type(x), 31)});
      return void(keep(builder_.make(Op::Histogram, {x}, {{"bins", int64_t{16}}})));
    }
    auto axis = static_cast<int64_t>(below(t.rank()));
    ValueId index = load_ints(t.shape);
    index = builder_.make(Op::And, {index, number(type(index), 31)});
    keep(builder_.make(Op::Gather, {src, index}, {{"axis", axis}}));
  }

  // Operands of whole numbers -2 … 3, so that sums are exact in every accumulator.
  ValueId small_numbers(const Shape& shape, Dtype dtype) {
    ValueId x = load_ints(shape);
    x = builder_.make(Op::And, {x, number(type(x), dtype == Dtype::kU8 ? 3 : 5)});
    if (dtype != Dtype::kU8) x = builder_.make(Op::Sub, {x, number(type(x), 2)});
    return cast(x, dtype);
  }
  ValueId load_ints(const Shape& shape) {
    ValueId offset = flat_index(shape);
    offset = builder_.make(Op::And, {offset, number(type(offset), kInputElements - 1)});
    return builder_.make(Op::Load, {pointers(inputs_[3], offset)});
  }
  void dot() {
    struct Kind {
      Dtype operand, accumulator;
    };
    constexpr Kind kKinds[] = {{Dtype::kF16, Dtype::kF32},    {Dtype::kBF16, Dtype::kF32},
                               {Dtype::kF32, Dtype::kF32},    {Dtype::kI8, Dtype::kI32},
                               {Dtype::kF8E4M3, Dtype::kF32}, {Dtype::kF8E5M2, Dtype::kF32},
                               {Dtype::kF64, Dtype::kF64},    {Dtype::kF16, Dtype::kF16}};
    constexpr int64_t kExtents[] = {16, 16, 32, 64};
    Kind kind = one_of(kKinds);
    int64_t m = one_of(kExtents), n = one_of(kExtents), k = kind.operand == Dtype::kI8 ? 32 : 16;
    if (chance(40)) k *= 2;
    ValueId a = small_numbers({m, k}, kind.operand), b = small_numbers({k, n}, kind.operand);
    if (chance(30)) {
      a = builder_.make(Op::Permute, {small_numbers({k, m}, kind.operand)},
                        {{"order", std::vector<int64_t>{1, 0}}});
    }
    ValueId c = small_numbers({m, n}, kind.accumulator);
    keep(builder_.make(Op::Dot, {a, b, c}));
  }

  // ---- regions ----
  template <class Finish>
  void region(ir::RegionId id, Finish finish) {
    ir::RegionId outer = builder_.region();
    size_t scope = pool_.size();
    builder_.set_region(id);
    for (ValueId arg : std::vector(module_.region(id).args)) keep(arg);
    ++depth_;
    for (int i = below(5); i > 0; --i) statement();
    finish();
    --depth_;
    pool_.resize(scope);
    builder_.set_region(outer);
  }
  std::vector<ValueId> values_of(const std::vector<Type>& types) {
    std::vector<ValueId> values;
    for (const Type& t : types) values.push_back(of_type(t));
    return values;
  }
  void control() {
    std::vector<ValueId> init;
    for (int i = 1 + below(3); i > 0; --i) init.push_back(some_tile());
    std::vector<Type> types;
    for (ValueId value : init) types.push_back(type(value));
    Type i32 = Type::scalar(Dtype::kI32);
    ir::OpId id;
    if (chance(50)) {
      ValueId high = chance(50) ? pool_[0] : number(i32, below(4));
      id = builder_.make_for(number(i32, 0), high, number(i32, 1 + below(2)), init);
      region(module_.op(id).regions[0], [&] { builder_.yield(values_of(types)); });
    } else {
      ValueId condition =
          builder_.make(Op::Cmp, {pool_[0], number(i32, below(8))}, {{"pred", std::string("lt")}});
      id = builder_.make_if(condition, types);
      for (int side = 0; side < 2; ++side)
        region(module_.op(id).regions[static_cast<size_t>(side)],
               [&] { builder_.yield(values_of(types)); });
    }
    for (ValueId result : std::vector(module_.op(id).results)) keep(result);
  }

  // ---- results ----
  void store_results() {
    std::vector<ValueId> values;
    for (ValueId value : pool_)
      if (type(value).is_tile()) values.push_back(value);
    std::shuffle(values.begin(), values.end(), random_);
    if (values.size() > kMostStored) values.resize(kMostStored);
    std::vector<int64_t> used(outputs_.size());
    for (ValueId value : values) {
      const Type t = type(value);
      auto which = static_cast<size_t>(
          std::find(std::begin(kKernelDtypes), std::end(kKernelDtypes), t.dtype) - kKernelDtypes);
      if (which >= outputs_.size()) continue;
      ValueId offset = flat_index(t.shape);
      offset = builder_.make(Op::Add, {offset, number(type(offset), used[which])});
      used[which] += t.element_count();
      std::vector<ValueId> operands = {pointers(outputs_[which], offset), value};
      if (chance(30)) operands.push_back(of_existing(t.with_dtype(Dtype::kI1), offset));
      builder_.make_op(Op::Store, operands, {}, {});
    }
  }

  std::mt19937_64 random_;
  RandomKernelOptions options_;
  ir::Module module_;
  ir::Builder builder_;
  std::vector<ValueId> inputs_, outputs_, pool_;  // the pool starts with the scalar parameter
  int depth_ = 0;
};

}  // namespace

ir::Module random_kernel(uint64_t seed, const RandomKernelOptions& options) {
  return Generator(seed, options).run();
}

}  // namespace tilewright::cuda
