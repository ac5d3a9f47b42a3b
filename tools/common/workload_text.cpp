#include "tools/common/workload_text.h"

#include <fmt/format.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <set>

#include "dsl/parser.h"
#include "frontend/evaluate.h"
#include "tools/common/npy.h"

namespace tilewright::tools {
namespace {

using frontend::Constant;
using Names = std::map<std::string, Constant>;

constexpr int64_t kMaxTensorBytes = int64_t{1} << 40;

ErrorInfo bad_argument(std::string message, std::string hint = {}) {
  return make_error(DiagKind::kBadArgument, std::move(message), std::move(hint));
}

Result<std::pair<std::string, std::string>> split_assignment(const std::string& word) {
  size_t equals = word.find('=');
  if (equals == word.npos || equals == 0)
    return bad_argument(fmt::format("'{}' is not NAME=VALUE", word));
  return std::pair(word.substr(0, equals), word.substr(equals + 1));
}

// A value expression as a syntax tree, so that rand(…) is told from cdiv(…).
struct ParsedValue {
  SourceMap sources;
  std::unique_ptr<dsl::Ast> ast;
  const dsl::Expr* expr = nullptr;
};

Result<std::unique_ptr<ParsedValue>> parse_value(const std::string& text) {
  auto value = std::make_unique<ParsedValue>();
  DiagSink sink;
  uint16_t file = value->sources.add("<argument>", "_ = (" + text + ")\n");
  value->ast = dsl::parse_file(value->sources, file, sink);
  if (sink.has_errors() || value->ast->body.size() != 1 || !value->ast->body[0]->value)
    return bad_argument(fmt::format("'{}' is not a value", text),
                        "write @x.npy, rand(f32,[n]), empty(f32,[n]), or a number");
  value->expr = value->ast->body[0]->value;
  return value;
}

bool makes_tensor(const dsl::Expr& e) {
  static const std::set<std::string, std::less<>> kMakers = {"rand", "randn", "zeros", "empty",
                                                             "arange"};
  return e.kind == dsl::ExprKind::kCall && e.children[0]->kind == dsl::ExprKind::kName &&
         kMakers.contains(e.children[0]->text);
}

void collect_names(const dsl::Expr& e, std::set<std::string>& names) {
  if (e.kind == dsl::ExprKind::kName) names.insert(e.text);
  for (const dsl::Expr* child : e.children)
    if (child) collect_names(*child, names);
}

class Builder {
 public:
  Result<autotune::Workload> build(const LaunchText& text);

 private:
  struct Word {
    std::string name, text;
    std::unique_ptr<ParsedValue> value;  // null for files
    bool is_tensor = false;
  };

  Status read_words(const LaunchText& text);
  Status add_scalars();
  Result<HostTensor> make_tensor(const Word& word);
  Result<HostTensor> read_tensor(const std::string& name, const std::string& file);
  Result<std::vector<int64_t>> extents(const dsl::Expr& e, const std::string& text);
  Status check_names(const frontend::KernelInfo& info);

  frontend::NameLookup lookup() {
    return [this](std::string_view name) -> std::optional<Constant> {
      used_.insert(std::string(name));
      auto it = names_.find(std::string(name));
      return it == names_.end() ? std::nullopt : std::optional(it->second);
    };
  }

  std::vector<Word> words_;
  Names names_, constants_;
  std::set<std::string> used_;
};

Status Builder::read_words(const LaunchText& text) {
  for (const std::string& word : text.constants) {
    TW_ASSIGN(auto assignment, split_assignment(word));
    TW_ASSIGN(auto constant, frontend::parse_constant(assignment.second));
    names_[assignment.first] = constants_[assignment.first] = constant;
  }
  for (const std::string& word : text.arguments) {
    TW_ASSIGN(auto assignment, split_assignment(word));
    Word parsed{assignment.first, assignment.second, nullptr, false};
    parsed.is_tensor = parsed.text.starts_with('@');
    if (!parsed.is_tensor) {
      TW_ASSIGN(parsed.value, parse_value(parsed.text));
      parsed.is_tensor = makes_tensor(*parsed.value->expr);
    }
    for (const Word& other : words_)
      if (other.name == parsed.name)
        return bad_argument(fmt::format("argument '{}' is given twice", parsed.name));
    words_.push_back(std::move(parsed));
  }
  return {};
}

// Scalars in any order: one may use another, so passes are made until nothing changes.
Status Builder::add_scalars() {
  std::vector<const Word*> left;
  for (const Word& word : words_)
    if (!word.is_tensor) left.push_back(&word);
  while (!left.empty()) {
    std::vector<const Word*> later;
    std::optional<ErrorInfo> error;
    for (const Word* word : left) {
      auto value = frontend::evaluate(*word->value->expr, lookup());
      if (value) {
        names_[word->name] = *value;
      } else {
        later.push_back(word);
        error = value.error();
        error->message =
            fmt::format("argument {}={}: {}", word->name, word->text, value.error().message);
      }
    }
    if (later.size() == left.size()) return *error;
    left = std::move(later);
  }
  return {};
}

Result<std::vector<int64_t>> Builder::extents(const dsl::Expr& e, const std::string& text) {
  TW_ASSIGN(auto value, frontend::evaluate(e, lookup()));
  if (value.kind != Constant::Kind::kTuple) {
    Constant tuple;
    tuple.kind = Constant::Kind::kTuple;
    tuple.elements = {value};
    value = tuple;
  }
  std::vector<int64_t> shape;
  int64_t count = 1;
  for (const Constant& extent : value.elements) {
    if (extent.kind != Constant::Kind::kInt || extent.integer < 0 ||
        extent.integer > kMaxTensorBytes ||
        (extent.integer > 0 && count > kMaxTensorBytes / extent.integer))
      return bad_argument(
          fmt::format("{} is no size of a tensor in '{}'", to_string(extent), text));
    shape.push_back(extent.integer);
    count *= extent.integer;
  }
  return shape;
}

Result<HostTensor> Builder::read_tensor(const std::string& name, const std::string& file) {
  std::string path = file;
  std::optional<Dtype> dtype;
  if (size_t colon = path.rfind(':');
      colon != path.npos && (dtype = parse_dtype(path.substr(colon + 1))))
    path.resize(colon);
  TW_ASSIGN(auto tensor, read_npy(path));
  if (!dtype) return tensor;
  if (dtype_bytes(*dtype) != dtype_bytes(tensor.dtype))
    return bad_argument(fmt::format("argument {}: {} holds {} ({} bytes an element), {} has {}",
                                    name, path, dtype_name(tensor.dtype), dtype_bytes(tensor.dtype),
                                    dtype_name(*dtype), dtype_bytes(*dtype)));
  tensor.dtype = *dtype;
  return tensor;
}

// Asked before allocating: with memory overcommitted, the kernel would end the process instead.
Status fits_in_memory(const std::string& name, Dtype dtype, const std::vector<int64_t>& shape) {
  double bytes = dtype_bytes(dtype);
  for (int64_t extent : shape) bytes *= static_cast<double>(extent);
  double memory =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  if (bytes <= memory) return {};
  return make_error(DiagKind::kOutOfMemory,
                    fmt::format("argument {} takes {:.0f} bytes, this machine has {:.0f} of memory",
                                name, bytes, memory),
                    "use a smaller tensor");
}

Result<HostTensor> Builder::make_tensor(const Word& word) {
  if (!word.value) return read_tensor(word.name, word.text.substr(1));
  const dsl::Expr& call = *word.value->expr;
  const std::string& maker = call.children[0]->text;
  if (call.children.size() != 3)
    return bad_argument(fmt::format("{} takes a dtype and a list of sizes", maker),
                        fmt::format("{}(f32,[16,16])", maker));
  TW_ASSIGN(auto dtype,
            frontend::evaluate(*call.children[1], [](std::string_view) { return std::nullopt; }));
  if (dtype.kind != Constant::Kind::kDtype)
    return bad_argument(fmt::format("'{}' does not begin with a dtype", word.text));
  TW_ASSIGN(auto shape, extents(*call.children[2], word.text));
  uint64_t seed = 0;
  for (const dsl::Keyword& keyword : call.keywords) {
    TW_ASSIGN(auto value, frontend::evaluate(*keyword.value, lookup()));
    if (keyword.name != "seed" || value.kind != Constant::Kind::kInt)
      return bad_argument(fmt::format("{} takes seed=INTEGER only, not {}", maker, keyword.name));
    seed = static_cast<uint64_t>(value.integer);
  }
  TW_TRY(fits_in_memory(word.name, dtype.dtype, shape));
  if (maker == "rand") return autotune::random_uniform(dtype.dtype, shape, seed);
  if (maker == "randn") return autotune::random_normal(dtype.dtype, shape, seed);
  if (maker == "zeros") return autotune::zeros(dtype.dtype, shape);
  if (maker == "arange") return autotune::counting(dtype.dtype, shape);
  return autotune::poisoned(dtype.dtype, shape);
}

// Every word must be a parameter or be used by a size, the grid or another word.
Status Builder::check_names(const frontend::KernelInfo& info) {
  auto is_param = [&](const std::string& name) {
    for (const frontend::ParamInfo& param : info.params)
      if (param.name == name) return true;
    return false;
  };
  for (const Word& word : words_) {
    if (is_param(word.name) || used_.contains(word.name)) continue;
    return make_error(DiagKind::kUnknownArgument,
                      fmt::format("kernel '{}' has no parameter '{}'", info.name, word.name));
  }
  for (auto& [name, value] : constants_)
    if (!is_param(name) && !used_.contains(name))
      return make_error(DiagKind::kUnknownArgument,
                        fmt::format("kernel '{}' has no parameter '{}'", info.name, name));
  return {};
}

Result<runtime::Arg> scalar_argument(const std::string& name, const Constant& value) {
  switch (value.kind) {
    case Constant::Kind::kNone:
      return runtime::Arg::none();
    case Constant::Kind::kBool:
      return runtime::Arg::boolean(value.integer != 0);
    case Constant::Kind::kInt:
      return value.is_unsigned ? runtime::Arg::integer(static_cast<uint64_t>(value.integer))
                               : runtime::Arg::integer(value.integer);
    case Constant::Kind::kFloat:
      return runtime::Arg::real(value.number);
    default:
      break;
  }
  return bad_argument(
      fmt::format("argument {} is {}, which is no run-time value", name, to_string(value)),
      fmt::format("--const {}={}", name, to_string(value)));
}

Result<std::array<uint32_t, 3>> evaluate_grid(const std::string& text, const Names& names) {
  auto value = frontend::evaluate_text(text, [&](std::string_view name) -> std::optional<Constant> {
    auto it = names.find(std::string(name));
    return it == names.end() ? std::nullopt : std::optional(it->second);
  });
  if (!value) {
    ErrorInfo error = value.error();
    error.message = fmt::format("grid '{}': {}", text, error.message);
    return error;
  }
  std::vector<Constant> axes =
      value->kind == Constant::Kind::kTuple ? value->elements : std::vector{*value};
  std::array<uint32_t, 3> grid = {1, 1, 1};
  if (axes.empty() || axes.size() > 3)
    return bad_argument(
        fmt::format("grid '{}' has {} axes, 1 to 3 are possible", text, axes.size()));
  for (size_t i = 0; i < axes.size(); ++i) {
    if (axes[i].kind != Constant::Kind::kInt || axes[i].integer < 0 || axes[i].integer > INT32_MAX)
      return bad_argument(
          fmt::format("axis {} of grid '{}' is {}, not an integer from 0 to 2147483647", i, text,
                      to_string(axes[i])));
    grid[i] = static_cast<uint32_t>(axes[i].integer);
  }
  return grid;
}

Result<autotune::Workload> Builder::build(const LaunchText& text) {
  KernelName name = split_kernel_name(text.kernel);
  TW_ASSIGN(auto program, load_kernel(name));
  TW_ASSIGN(auto info, frontend::describe_kernel(*program, name.kernel));
  TW_TRY(read_words(text));
  TW_TRY(add_scalars());
  autotune::Workload workload;
  workload.program = program;
  workload.kernel = name.kernel;
  auto is_param = [&](const std::string& word) {
    for (const frontend::ParamInfo& param : info.params)
      if (param.name == word) return true;
    return false;
  };
  for (const Word& word : words_) {
    autotune::WorkArgument argument;
    argument.name = word.name;
    if (word.is_tensor) {
      TW_ASSIGN(argument.tensor, make_tensor(word));
    } else {
      if (!is_param(word.name)) continue;
      TW_ASSIGN(argument.scalar, scalar_argument(word.name, names_.at(word.name)));
    }
    workload.arguments.push_back(std::move(argument));
  }
  TW_ASSIGN(auto grid, parse_value(text.grid));
  collect_names(*grid->expr, used_);
  TW_TRY(check_names(info));
  for (auto& [constant, value] : constants_)
    if (is_param(constant)) workload.constants[constant] = value;
  workload.grid = [names = names_, grid = text.grid](const autotune::Config& config) {
    Names all = names;
    for (auto& [constant, value] : config.constants) all[constant] = value;
    return evaluate_grid(grid, all);
  };
  return workload;
}

}  // namespace

KernelName split_kernel_name(const std::string& text) {
  size_t colons = text.rfind("::");
  if (colons == text.npos) return {text, ""};
  return {text.substr(0, colons), text.substr(colons + 2)};
}

Result<std::string> read_text_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return make_error(DiagKind::kIo, fmt::format("{} cannot be opened", path));
  std::string text{std::istreambuf_iterator<char>(in), {}};
  if (in.bad()) return make_error(DiagKind::kIo, fmt::format("{} cannot be read", path));
  return text;
}

Result<std::shared_ptr<const frontend::Program>> load_kernel(KernelName& name) {
  TW_ASSIGN(auto text, read_text_file(name.file));
  TW_ASSIGN(auto program, frontend::Program::load(name.file, std::move(text)));
  if (!name.kernel.empty()) return program;
  auto functions = program->functions();
  if (functions.size() == 1) {
    name.kernel = functions[0];
    return program;
  }
  std::string list;
  for (const std::string& function : functions) list += (list.empty() ? "" : ", ") + function;
  return bad_argument(
      fmt::format("{} has {} jit functions; say which", name.file, functions.size()),
      functions.empty() ? "" : fmt::format("{}::KERNEL with one of {}", name.file, list));
}

Result<autotune::Workload> make_workload(const LaunchText& text) {
  return Builder().build(text);
}

std::string describe(const autotune::HostTensor& tensor) {
  return fmt::format("{}[{}]", dtype_name(tensor.dtype), fmt::join(tensor.shape, ", "));
}

}  // namespace tilewright::tools
