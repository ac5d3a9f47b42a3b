#include "codegen/report/work.h"

#include <algorithm>

#include "codegen/cuda/units.h"
#include "dsl/base/check.h"

namespace tilewright::report {
namespace {

using ir::Op;
using ir::OpId;
using ir::OpNode;
using ir::ValueId;

int64_t elements(const ir::Type& type) {
  int64_t count = 1;
  for (int64_t extent : type.shape) count *= extent;
  return count;
}

int64_t bytes_of(const ir::Type& type) {
  return elements(type) * dtype_bits(type.dtype) / 8;
}

// The rate a dot runs at on the target; FMA where its tensor cores lack the type.
DotWork dot_work(const ir::Module& module, const OpNode& op, const Target& target) {
  const ir::Type &a = module.type(op.operands[0]), &b = module.type(op.operands[1]);
  const Dtype sum = module.type(op.operands[2]).dtype;
  DotWork out;
  out.operations = 2 * elements(module.type(op.results[0])) * b.shape[b.shape.size() - 2];
  const bool ampere = target.has_bf16_mma;
  auto both = [&](auto&& is) { return is(a.dtype) && is(b.dtype); };
  auto is = [](Dtype wanted) { return [wanted](Dtype dtype) { return dtype == wanted; }; };
  auto is_byte = [](Dtype d) { return d == Dtype::kI8 || d == Dtype::kU8; };
  const auto unit = cuda::find_unit(target, cuda::dot_types(module, op));
  if (unit && unit->sparse) out.speed = 2;
  out.math = Math::kFma;
  if (op.operands.size() == 5) {  // scaled
    if (b.dtype == Dtype::kU8) out.operations *= 2;
    const bool nibbles = unit && unit->scales > 1;
    out.math = nibbles ? Math::kF4 : target.has_scaled_mma ? Math::kF8F32 : Math::kF16F32;
    if (!ampere) out.math = Math::kFma;
  } else if (both(is_fp8)) {
    // Through mma.sync sm_90 computes FP8 by widening it.
    bool own = target.has_fp8_mma && !target.has_wgmma;
    out.math = own                  ? (sum == Dtype::kF16 ? Math::kF8F16 : Math::kF8F32)
               : sum == Dtype::kF16 ? Math::kF16F16
                                    : Math::kF16F32;
  } else if (both(is(Dtype::kF16))) {
    out.math = sum == Dtype::kF16 ? Math::kF16F16 : Math::kF16F32;
  } else if (both(is(Dtype::kBF16)) && ampere) {
    out.math = Math::kF16F32;
  } else if (both(is_byte)) {
    const bool nibbles = op.attrs.get_int("nibbles", 0) != 0;
    if (nibbles) out.operations *= 2;
    out.math = nibbles && target.has_int4_mma ? Math::kI4 : Math::kI8;
  } else if (both(is(Dtype::kF32)) && ampere) {
    std::string_view precision = op.attrs.get_word("precision", "tf32");
    if (precision != "ieee") out.math = Math::kTf32;
    if (precision == "tf32x3") out.passes = 3;
  } else if (both(is(Dtype::kF64)) && (target.sm == 80 || target.sm >= 90) && target.sm < 120) {
    out.math = Math::kF64;
  }
  return out;
}

// Loads that reach an operand of a dot through pure ops of the same loop.
void mark_operand_loads(const ir::Module& module, ValueId value, std::vector<OpId>& loads,
                        int depth = 0) {
  constexpr int kMaxDepth = 32;
  const ir::Value& v = module.value(value);
  if (!v.def.valid() || depth > kMaxDepth) return;
  const OpNode& op = module.op(v.def);
  if (op.op == Op::Load) {
    if (std::find(loads.begin(), loads.end(), v.def) == loads.end()) loads.push_back(v.def);
    return;
  }
  if (!ir::op_info(op.op).has(ir::kPure) || op.op == Op::Dot) return;
  for (ValueId operand : op.operands) mark_operand_loads(module, operand, loads, depth + 1);
}

bool is_float_arithmetic(const ir::Module& module, const OpNode& op) {
  const ir::OpInfo& info = ir::op_info(op.op);
  if (info.family != ir::Family::kElementwise || op.results.empty()) return false;
  if (op.op == Op::Cast || op.op == Op::Bitcast || op.op == Op::Select) return false;
  const ir::Type& type = module.type(op.results[0]);
  return !type.is_pointer && is_float(type.dtype);
}

class Counter {
 public:
  Counter(const ir::Module& module, const Target& target) : module_(module), target_(target) {
    visit(module.body, outside_, true);
    loops_.insert(loops_.begin(), std::move(outside_));
  }
  std::vector<Work> take() { return std::move(loops_); }

 private:
  static bool is_loop(const OpNode& op) { return op.op == Op::For || op.op == Op::While; }

  bool holds_loop(const OpNode& op) const {
    bool found = false;
    for (ir::RegionId region : op.regions)
      ir::walk(module_, region, [&](OpId id) { found |= is_loop(module_.op(id)); });
    return found;
  }

  // Counts a region's ops, nested ones too, into `work`; loops get entries of their own. What an
  // outer loop does around an inner one is small beside it and is left out.
  void visit(ir::RegionId region, Work& work, bool counts) {
    for (OpId id : module_.region(region).ops) {
      const OpNode& op = module_.op(id);
      if (is_loop(op)) {
        Work inner;
        inner.is_loop = true;
        inner.span = op.span;
        bool innermost = !holds_loop(op);
        inner.steps = constant_steps(op);
        for (ir::RegionId body : op.regions) visit(body, inner, innermost);
        if (innermost) loops_.push_back(std::move(inner));
        continue;
      }
      if (counts) count(id, work);
      if (ir::op_info(op.op).has(ir::kCombines)) continue;  // its region combines two elements
      for (ir::RegionId nested : op.regions) visit(nested, work, counts);
    }
  }

  std::optional<int64_t> constant_steps(const OpNode& op) const {
    if (op.op != Op::For) return std::nullopt;
    int64_t bounds[3];
    for (size_t i = 0; i < 3; ++i) {
      const OpNode* def = module_.def(op.operands[i]);
      if (!def || def->op != Op::Const) return std::nullopt;
      bounds[i] = def->attrs.get_int("value", 0);
    }
    auto [low, high, step] = bounds;
    if (step == 0) return std::nullopt;
    int64_t distance = step > 0 ? high - low : low - high, stride = step > 0 ? step : -step;
    return distance <= 0 ? 0 : (distance + stride - 1) / stride;
  }

  void count(OpId id, Work& work) {
    const OpNode& op = module_.op(id);
    if (op.span.valid()) work.ops.push_back(op.span);
    switch (op.op) {
      case Op::Load:
        ++work.loads;
        work.loaded += bytes_of(module_.type(op.results[0]));
        work.smallest_load =
            work.loads == 1 ? elements(module_.type(op.results[0]))
                            : std::min(work.smallest_load, elements(module_.type(op.results[0])));
        break;
      case Op::Store:
        ++work.stores;
        work.stored += bytes_of(module_.type(op.operands[1]));
        break;
      case Op::AtomicRmw:
      case Op::AtomicCas:
        ++work.atomics;
        work.stored += bytes_of(module_.type(op.results[0]));
        break;
      case Op::Dot:
        count_dot(op, work);
        break;
      case Op::Reduce:
      case Op::Scan:
      case Op::Histogram:
        work.elementwise += elements(module_.type(op.operands[0]));
        break;
      default:
        if (is_float_arithmetic(module_, op))
          work.elementwise += elements(module_.type(op.results[0])) * (op.op == Op::Fma ? 2 : 1);
    }
  }

  void count_dot(const OpNode& op, Work& work) {
    ++work.dots;
    DotWork dot = dot_work(module_, op, target_);
    auto same = std::find_if(work.dot_work.begin(), work.dot_work.end(), [&](const DotWork& other) {
      return other.math == dot.math && other.passes == dot.passes && other.speed == dot.speed;
    });
    if (same == work.dot_work.end())
      work.dot_work.push_back(dot);
    else
      same->operations += dot.operations;
    for (size_t operand = 0; operand < op.operands.size(); ++operand) {
      if (operand == 2) continue;  // the sum; behind it lies what belongs to a, then to b
      std::vector<OpId> loads;
      mark_operand_loads(module_, op.operands[operand], loads);
      for (OpId load : loads)
        (operand == 0 || operand == 3 ? work.shared_by_row : work.shared_by_column) +=
            bytes_of(module_.type(module_.op(load).results[0]));
    }
  }

  const ir::Module& module_;
  const Target& target_;
  Work outside_;
  std::vector<Work> loops_;
};

}  // namespace

std::string_view math_name(Math math) {
  switch (math) {
    case Math::kF16F32:
      return "16-bit floats, f32 sums";
    case Math::kF16F16:
      return "f16, f16 sums";
    case Math::kTf32:
      return "tf32";
    case Math::kF8F32:
      return "f8, f32 sums";
    case Math::kF8F16:
      return "f8, f16 sums";
    case Math::kF4:
      return "f4, f32 sums";
    case Math::kI8:
      return "int8";
    case Math::kI4:
      return "int4";
    case Math::kF64:
      return "f64";
    case Math::kFma:
      return "FMA";
  }
  TW_UNREACHABLE("unknown kind of dot");
}

int rate_of(const Rates& rates, Math math) {
  switch (math) {
    case Math::kF16F32:
      return rates.f16_f32;
    case Math::kF16F16:
      return rates.f16_f16;
    case Math::kTf32:
      return rates.tf32;
    case Math::kF8F32:
      return rates.f8_f32;
    case Math::kF8F16:
      return rates.f8_f16;
    case Math::kF4:
      return rates.f4;
    case Math::kI8:
      return rates.i8;
    case Math::kI4:
      return rates.i4;
    case Math::kF64:
      return rates.f64;
    case Math::kFma:
      return rates.fma_f32;
  }
  TW_UNREACHABLE("unknown kind of dot");
}

int64_t Work::operations() const {
  int64_t sum = elementwise;
  for (const DotWork& dot : dot_work) sum += dot.operations;
  return sum;
}

std::vector<Work> count_work(const ir::Module& module, const Target& target) {
  return Counter(module, target).take();
}

}  // namespace tilewright::report
