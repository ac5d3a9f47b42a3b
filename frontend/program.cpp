#include <fmt/format.h>

#include "dsl/parser.h"
#include "frontend/frontend.h"

namespace tilewright::frontend {

struct Program::Impl {
  SourceMap sources;
  std::unique_ptr<dsl::Ast> ast;
  std::map<std::string, Constant> environment;
  std::vector<std::string> names;  // of jit functions, "Class.name" for those in classes
  std::map<std::string, const dsl::Stmt*, std::less<>> functions;

  void collect(const std::vector<dsl::Stmt*>& body, const std::string& prefix) {
    for (const dsl::Stmt* stmt : body) {
      if (stmt->kind == dsl::StmtKind::kClass) collect(stmt->body, prefix + stmt->name + ".");
      if (stmt->kind != dsl::StmtKind::kFunction || !dsl::is_jit_function(*stmt)) continue;
      // As in Python, a later definition of a name replaces an earlier one.
      std::string name = prefix + stmt->name;
      if (functions.insert_or_assign(name, stmt).second) names.push_back(name);
    }
  }
};

Program::Program(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Program::~Program() = default;

Result<std::shared_ptr<const Program>> Program::load(std::string path, std::string text,
                                                     std::map<std::string, Constant> environment) {
  auto impl = std::make_unique<Impl>();
  DiagSink sink;
  uint16_t file = impl->sources.add(std::move(path), std::move(text));
  impl->ast = dsl::parse_file(impl->sources, file, sink);
  if (sink.has_errors()) {
    sink.sort();
    const Diagnostic& first = sink.all().front();
    ErrorInfo error = make_error(first.kind, first.message);
    error.details = render(sink, impl->sources);
    return error;
  }
  impl->environment = std::move(environment);
  impl->collect(impl->ast->body, "");
  return std::shared_ptr<const Program>(new Program(std::move(impl)));
}

const SourceMap& Program::sources() const {
  return impl_->sources;
}
const dsl::Ast& Program::ast() const {
  return *impl_->ast;
}
std::vector<std::string> Program::functions() const {
  return impl_->names;
}
const std::map<std::string, Constant>& Program::environment() const {
  return impl_->environment;
}

const dsl::Stmt* Program::find(std::string_view name) const {
  auto it = impl_->functions.find(name);
  return it == impl_->functions.end() ? nullptr : it->second;
}

}  // namespace tilewright::frontend
