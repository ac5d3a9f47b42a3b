// Random modules on the interpreter and on the CPU, compared bitwise. TILEWRIGHT_FUZZ=N runs N
// seeds, TILEWRIGHT_FUZZ_SEED starts elsewhere; a failure names its seed.
#include <bit>
#include <cstdlib>

#include "codegen/passes/passes.h"
#include "tests/unit/cpu/harness.h"
#include "tests/unit/ir/random_ir.h"

namespace tilewright::cpu {
namespace {

using ir::Op;

uint64_t from_environment(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

// What combines values of a type in any order; nothing for fp8, which has no arithmetic.
std::optional<Op> order_free(Dtype dtype) {
  if (is_fp8(dtype)) return std::nullopt;
  return is_float(dtype) ? Op::Max : Op::Add;
}

// Random regions of reductions are not associative, and some functions are only bounded. Gives
// false for what cannot be replaced by something exact.
bool make_exact(ir::Module& module) {
  std::vector<ir::OpId> ops;
  ir::walk(module, module.body, [&](ir::OpId id) { ops.push_back(id); });
  for (ir::OpId id : ops) {
    switch (module.op(id).op) {
      case Op::Exp:
      case Op::Exp2:
      case Op::Log:
      case Op::Log2:
      case Op::Sin:
      case Op::Cos:
      case Op::Tanh:
      case Op::Rsqrt:
      case Op::Erf:
        module.op(id).op = Op::Neg;
        break;
      case Op::Reduce:
      case Op::Scan: {
        ir::RegionId region = module.op(id).regions[0];
        std::vector<ir::ValueId> args = module.region(region).args, results;
        module.region(region).ops.clear();
        for (size_t k = 0; k < args.size() / 2; ++k) {
          std::optional<Op> op = order_free(module.type(args[k]).dtype);
          if (!op || module.type(args[k]).is_pointer) return false;
          ir::OpId combine = module.add_op(*op, {}, {args[k], args[k + args.size() / 2]}, {},
                                           {module.type(args[k])});
          module.append(region, combine);
          results.push_back(module.op(combine).results[0]);
        }
        module.append(region, module.add_op(Op::Yield, {}, results, {}, {}));
        break;
      }
      default:
        break;
    }
  }
  return true;
}

Arguments random_arguments(uint64_t seed) {
  ir::Random random(seed);
  Arguments out;
  for (int i = 0; i <= static_cast<int>(Dtype::kF64); ++i) {
    auto dtype = static_cast<Dtype>(i);
    std::vector<uint64_t> bits(ir::kBufferElements);
    for (int k = 0; k < ir::kRandomElements; ++k)
      bits[static_cast<size_t>(k)] = ir::random_bits(random, dtype);
    out.arrays.emplace_back(dtype, bits);
    out.labels.push_back("p_" + std::string(dtype_name(dtype)));
  }
  for (Dtype dtype : {Dtype::kI32, Dtype::kI64, Dtype::kF32, Dtype::kI1})
    out.scalars.push_back(ir::random_bits(random, dtype));
  out.grid = {2, 1, 1};
  return out;
}

// Both programs of the grid run one after the other, as they share their memory.
// Returns whether the module could be compared.
bool check(ir::Module module, uint64_t seed) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  if (!make_exact(module)) return false;
  EXPECT_TRUE(ir::verify(module).ok());
  Arguments want = random_arguments(seed), got = want;
  std::vector<uint64_t> slots;
  interp::Options limits;
  limits.fuel = 200000;
  if (!interp::run(module, launch_of(want, slots), limits).ok()) return false;
  auto kernel = compile(module);
  EXPECT_TRUE(kernel.ok()) << ir::print(module) << kernel.error().text();
  if (!kernel.ok()) return true;
  Status ran = (*kernel)->run(launch_of(got, slots), 1);
  EXPECT_TRUE(ran.ok()) << ran.error().text();
  expect_same(want, got, "");
  if (testing::Test::HasFailure()) std::printf("%s", ir::print(module).c_str());
  return true;
}

TEST(Fuzz, ModulesAgainstTheInterpreter) {
  uint64_t first = from_environment("TILEWRIGHT_FUZZ_SEED", 1);
  uint64_t count = from_environment("TILEWRIGHT_FUZZ", 60);
  uint64_t compared = 0;
  for (uint64_t seed = first; seed < first + count && !HasFailure(); ++seed)
    compared += check(ir::random_module(seed, 10 + static_cast<int>(seed % 60)), seed);
  EXPECT_GE(compared, count / 2);
}

TEST(Fuzz, ExpressionsAgainstTheInterpreter) {
  uint64_t first = from_environment("TILEWRIGHT_FUZZ_SEED", 1);
  uint64_t count = from_environment("TILEWRIGHT_FUZZ", 60);
  uint64_t compared = 0;
  for (uint64_t seed = first; seed < first + count && !HasFailure(); ++seed)
    compared += check(ir::random_expressions(seed), seed);
  EXPECT_GE(compared, count / 2);
}

}  // namespace
}  // namespace tilewright::cpu
