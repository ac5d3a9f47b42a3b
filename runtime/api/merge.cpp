#include "runtime/api/merge.h"

#include <fmt/format.h>

#include <optional>
#include <set>

#include "dsl/ast.h"

namespace tilewright {

void EnvironmentTable::set_function(std::string name, std::string source, std::string function,
                                    EnvironmentTable environment) {
  Function out{std::move(source), std::move(function),
               std::make_shared<const EnvironmentTable>(std::move(environment))};
  entries_[std::move(name)] = {{}, std::make_shared<const Function>(std::move(out))};
}

namespace {

using frontend::Constant;

// The names that a text defines at module level; for assignments and imports with their text, since
// the same line twice means the same thing.
using Definitions = std::map<std::string, std::string>;

void collect_names(const dsl::Expr* target, const std::string& meaning, Definitions& out) {
  if (target->kind == dsl::ExprKind::kName) out[target->text] = meaning;
  for (const dsl::Expr* child : target->children)
    if (child && target->kind == dsl::ExprKind::kTuple) collect_names(child, meaning, out);
}

Definitions definitions_of(const frontend::Program& program) {
  Definitions out;
  for (const dsl::Stmt* stmt : program.ast().body) {
    std::string meaning(program.sources().text(stmt->span));
    switch (stmt->kind) {
      case dsl::StmtKind::kAssign:
      case dsl::StmtKind::kAnnAssign:
        for (const dsl::Expr* target : stmt->targets) collect_names(target, meaning, out);
        break;
      case dsl::StmtKind::kFunction:
      case dsl::StmtKind::kClass:
        out[stmt->name] = "";  // two texts with one function name never agree
        break;
      case dsl::StmtKind::kImport:
        for (const dsl::ImportName& import : stmt->imports)
          out[import.alias] = "import " + import.module + " " + import.name;
        break;
      default:
        break;
    }
  }
  return out;
}

// Behind the text, so that its lines keep their numbers.
std::string missing_imports(const Definitions& defined,
                            const std::map<std::string, Constant>& environment) {
  std::string out;
  auto known = [&](const char* name) { return defined.count(name) || environment.count(name); };
  if (!known("tl")) out += "\nimport triton.language as tl\n";
  if (!known("triton")) out += "\nimport triton\n";
  return out;
}

class Merger {
 public:
  Status add_text(const std::string& text);
  Status add_table(const EnvironmentTable& table, size_t owner);
  Status check_shadowing() const;
  MergedProgram take() { return std::move(merged_); }
  std::optional<size_t> index_of(const std::string& text) const {
    for (size_t i = 0; i < texts_.size(); ++i)
      if (texts_[i].text == text) return i;
    return std::nullopt;
  }

 private:
  struct Text {
    std::string text;
    Definitions definitions;
  };
  static ErrorInfo conflict(const std::string& name) {
    return make_error(
        DiagKind::kUnsupportedEnvironment,
        fmt::format("`{}` means different things in the texts that a kernel is put together from",
                    name),
        "give the name another spelling in one of the texts");
  }
  Status bind(const std::string& name, Constant constant, size_t owner);

  MergedProgram merged_;
  std::vector<Text> texts_;
  std::map<std::string, std::set<size_t>> owners_;  // of names in the environment
};

Status Merger::add_text(const std::string& text) {
  TW_ASSIGN(auto program, frontend::Program::load("<environment>", text));
  Definitions definitions = definitions_of(*program);
  for (const Text& other : texts_)
    for (const auto& [name, meaning] : definitions)
      if (auto it = other.definitions.find(name);
          it != other.definitions.end() && (meaning.empty() || it->second != meaning))
        return conflict(name);
  merged_.text += texts_.empty() ? text : "\n" + text;
  texts_.push_back({text, std::move(definitions)});
  return {};
}

Status Merger::bind(const std::string& name, Constant constant, size_t owner) {
  auto [it, added] = merged_.environment.emplace(name, constant);
  if (!added && !(it->second == constant)) return conflict(name);
  owners_[name].insert(owner);
  return {};
}

Status Merger::add_table(const EnvironmentTable& table, size_t owner) {
  for (const auto& [name, entry] : table.entries()) {
    if (!entry.function) {
      TW_TRY(bind(name, entry.constant, owner));
      continue;
    }
    const EnvironmentTable::Function& function = *entry.function;
    size_t home = owner;
    if (!function.source.empty()) {
      std::optional<size_t> known = index_of(function.source);
      home = known.value_or(texts_.size());
      if (!known) TW_TRY(add_text(function.source));
    }
    // A name for itself needs no entry, which would only hide the definition.
    if (name != function.name || home == owner)
      TW_TRY(bind(name, function_constant(function.name), owner));
    TW_TRY(add_table(*function.environment, home));
  }
  return {};
}

// The environment goes before what a text defines, which only the text it was given for may rely
// on.
Status Merger::check_shadowing() const {
  for (const auto& [name, owners] : owners_)
    for (size_t i = 0; i < texts_.size(); ++i)
      if (!owners.count(i) && texts_[i].definitions.count(name)) return conflict(name);
  return {};
}

}  // namespace

Result<std::shared_ptr<const frontend::Program>> load_program(
    std::string path, std::string text, std::map<std::string, Constant> environment) {
  TW_ASSIGN(auto program, frontend::Program::load(path, text, environment));
  std::string imports = missing_imports(definitions_of(*program), environment);
  if (imports.empty()) return program;
  return frontend::Program::load(std::move(path), text + imports, std::move(environment));
}

Result<MergedProgram> merge(std::string text, const EnvironmentTable& table) {
  bool several_texts = false;
  MergedProgram simple;
  for (const auto& [name, entry] : table.entries()) {
    several_texts |= entry.function && (!entry.function->source.empty() ||
                                        !entry.function->environment->entries().empty());
    simple.environment[name] =
        entry.function ? function_constant(entry.function->name) : entry.constant;
  }
  if (!several_texts) {
    simple.text = std::move(text);
    return simple;
  }
  Merger merger;
  TW_TRY(merger.add_text(text));
  TW_TRY(merger.add_table(table, 0));
  TW_TRY(merger.check_shadowing());
  return merger.take();
}

}  // namespace tilewright
