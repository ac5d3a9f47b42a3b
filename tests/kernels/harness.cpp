#include "tests/kernels/harness.h"

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <mutex>
#include <sstream>

#include "codegen/passes/passes.h"

namespace tilewright::kernel_tests {

// ---- problems ----

int64_t Problem::get(std::string_view key, int64_t otherwise) const {
  auto it = options.find(key);
  return it == options.end() ? otherwise : std::stoll(it->second);
}

std::string Problem::word(std::string_view key, std::string_view otherwise) const {
  auto it = options.find(key);
  return it == options.end() ? std::string(otherwise) : it->second;
}

Result<Problem> parse_problem(std::string_view line) {
  Problem problem;
  problem.line = line;
  std::istringstream words(problem.line);
  std::string dtype;
  words >> problem.op >> dtype;
  auto parsed = parse_dtype(dtype);
  if (!parsed) return make_error(DiagKind::kIo, "problem line has no dtype: " + problem.line);
  problem.dtype = *parsed;
  for (std::string word; words >> word;) {
    size_t equals = word.find('=');
    if (equals == word.npos) return make_error(DiagKind::kIo, "expected key=value, got " + word);
    problem.options[word.substr(0, equals)] = word.substr(equals + 1);
  }
  return problem;
}

std::vector<std::string> expand_line(const std::string& line) {
  size_t open = line.find('{'), close = line.find('}', open);
  if (open == line.npos || close == line.npos) return {line};
  std::vector<std::string> out;
  std::istringstream choices(line.substr(open + 1, close - open - 1));
  for (std::string choice; std::getline(choices, choice, ',');)
    for (std::string& rest : expand_line(line.substr(0, open) + choice + line.substr(close + 1)))
      out.push_back(std::move(rest));
  return out;
}

// ---- launches ----

LaunchArgument arg(std::string name, Buffer& buffer) {
  return {std::move(name), LaunchArgument::Kind::kBuffer, &buffer, 0, 0};
}
LaunchArgument arg(std::string name, int64_t value) {
  return {std::move(name), LaunchArgument::Kind::kInt, nullptr, value, 0};
}
LaunchArgument arg(std::string name, double value) {
  return {std::move(name), LaunchArgument::Kind::kFloat, nullptr, 0, value};
}
LaunchArgument none(std::string name) {
  return {std::move(name), LaunchArgument::Kind::kNone, nullptr, 0, 0};
}

Result<std::shared_ptr<const frontend::Program>> load_program(const std::string& file) {
  static std::mutex mutex;
  static std::map<std::string, std::shared_ptr<const frontend::Program>> programs;
  std::lock_guard lock(mutex);
  if (auto it = programs.find(file); it != programs.end()) return it->second;
  // The tree may lie elsewhere than where the tests were built (a machine with a GPU).
  const char* moved = std::getenv("TILEWRIGHT_SOURCE_DIR");
  std::ifstream in(std::string(moved ? moved : TILEWRIGHT_SOURCE_DIR) + "/kernels_lib/" + file,
                   std::ios::binary);
  if (!in) return make_error(DiagKind::kIo, "cannot read " + file);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  TW_ASSIGN(auto program, frontend::Program::load(file, std::move(text)));
  return programs[file] = program;
}

namespace {

frontend::Argument specialize(const LaunchArgument& argument) {
  frontend::Argument out;
  out.name = argument.name;
  switch (argument.kind) {
    case LaunchArgument::Kind::kNone:
      out.is_constant = true;
      break;
    case LaunchArgument::Kind::kBuffer:
      out.type = ir::Type::pointer(argument.buffer->dtype());
      if (reinterpret_cast<uintptr_t>(argument.buffer->data()) % 16 == 0) out.divisibility = 16;
      break;
    case LaunchArgument::Kind::kFloat:
      out.type = ir::Type::scalar(Dtype::kF32);
      break;
    case LaunchArgument::Kind::kInt:
      out.is_constant = argument.integer == 1;
      out.constant = frontend::Constant::integer_of(argument.integer);
      out.type = ir::Type::scalar(
          argument.integer == static_cast<int32_t>(argument.integer) ? Dtype::kI32 : Dtype::kI64);
      out.divisibility = frontend::divisibility_class(static_cast<uint64_t>(argument.integer));
      break;
  }
  return out;
}

}  // namespace

Result<frontend::Specialization> specialize(const LaunchSpec& spec) {
  TW_ASSIGN(auto program, load_program(spec.file));
  TW_ASSIGN(auto info, frontend::describe_kernel(*program, spec.kernel));
  frontend::Specialization specialization;
  specialization.num_warps = spec.num_warps;
  specialization.num_stages = spec.num_stages;
  for (const frontend::ParamInfo& param : info.params) {
    if (auto it = spec.constants.find(param.name); it != spec.constants.end()) {
      frontend::Argument constant;
      constant.name = param.name;
      constant.is_constant = true;
      constant.constant = it->second;
      specialization.arguments.push_back(constant);
    }
    for (const LaunchArgument& argument : spec.arguments)
      if (argument.name == param.name) specialization.arguments.push_back(specialize(argument));
  }
  return specialization;
}

Result<std::string> key_of(const LaunchSpec& spec) {
  TW_ASSIGN(auto specialization, specialize(spec));
  return spec.file + "::" + spec.kernel + " " + specialization.key();
}

Result<ir::Module> lower(const LaunchSpec& spec) {
  TW_ASSIGN(auto program, load_program(spec.file));
  TW_ASSIGN(auto specialization, specialize(spec));
  TW_ASSIGN(auto module, frontend::lower(*program, spec.kernel, specialization));
  TW_TRY(passes::run_pipeline(module));
  return module;
}

// ---- comparison ----

double epsilon(Dtype dtype) {
  switch (dtype) {
    case Dtype::kF64:
      return 0x1.0p-53;
    case Dtype::kF32:
      return 0x1.0p-24;
    case Dtype::kF16:
      return 0x1.0p-11;
    case Dtype::kBF16:
      return 0x1.0p-8;
    case Dtype::kF8E4M3:
      return 0x1.0p-4;
    case Dtype::kF8E5M2:
      return 0x1.0p-3;
    default:
      return 0;
  }
}

std::string compare(const Executor& executor, const Buffer& actual,
                    const std::vector<double>& expected,
                    const std::function<double(int64_t)>& bound, std::string_view what) {
  if (!executor.runs()) return {};
  std::ostringstream out;
  int64_t wrong = 0;
  for (int64_t i = 0; i < actual.count(); ++i) {
    double error = std::fabs(actual.get(i) - expected[i]);
    // Subnormal results of narrow formats round absolutely, not relatively.
    double floor = actual.dtype() == Dtype::kF16 ? 0x1.0p-25 : 0;
    if (error <= bound(i) + floor) continue;  // NaN is not
    if (wrong++ == 0)
      out << what << "[" << i << "] is " << actual.get(i) << ", expected " << expected[i]
          << " within " << bound(i);
  }
  if (wrong > 0) out << " (" << wrong << " of " << actual.count() << " wrong)";
  if (!actual.guards_intact())
    out << (wrong ? "; " : "") << what << " was written outside its bounds";
  return out.str();
}

}  // namespace tilewright::kernel_tests
