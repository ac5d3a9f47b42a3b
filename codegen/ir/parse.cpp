// Reads the text form (grammar in README.md). Names are resolved after everything is read, so that
// text with a use before its definition becomes a module that the verifier can explain.
#include <unordered_map>

#include "codegen/ir/lex.h"
#include "codegen/ir/module.h"

namespace tilewright::ir {
namespace {

constexpr int kMaxDepth = 100;

class Parser {
 public:
  Parser(std::vector<Token> tokens, DiagSink& sink) : tokens_(std::move(tokens)), sink_(sink) {}

  Module run() {
    parse_kernel();
    if (!sink_.has_errors()) resolve();
    return std::move(module_);
  }

 private:
  struct Use {
    OpId op;
    size_t operand;
    Token token;
  };
  struct TypedName {
    Token name;
    Type type;
  };
  struct Definition {
    ValueId value;
    Span span;
  };

  // ---- tokens ----
  const Token& now() const { return tokens_[at_]; }
  const Token& next() {
    const Token& token = tokens_[at_];
    if (token.kind != TokenKind::kEnd) ++at_;
    return token;
  }
  bool take(char punct) {
    if (!now().is(punct)) return false;
    next();
    return true;
  }
  bool fail(const std::string& expected) {
    sink_.error(DiagKind::kIrSyntax, now().span,
                "expected " + expected + ", but found " + describe(now()));
    return false;
  }
  bool expect(char punct) { return take(punct) || fail(std::string("'") + punct + "'"); }
  bool expect_word(std::string_view word) {
    if (!now().is_word(word)) return fail("'" + std::string(word) + "'");
    next();
    return true;
  }

  // Skips to the start of the next line after an error; returns false at the end of the text.
  bool recover() {
    while (now().kind != TokenKind::kEnd && !now().starts_line) next();
    return now().kind != TokenKind::kEnd;
  }

  // ---- grammar ----
  bool parse_kernel() {
    if (!expect_word("kernel")) return false;
    if (now().kind != TokenKind::kSymbol) return fail("'@' and the kernel's name");
    module_.name = next().text;
    module_.body = module_.add_region({});
    if (!expect('(') || !parse_list(')', [this] { return parse_param(); })) return false;
    if (now().is_word("attributes")) {
      next();
      if (!parse_attrs(module_.attrs)) return false;
    }
    if (!parse_block(module_.body, 0)) return false;
    return now().kind == TokenKind::kEnd || fail("the end of the text");
  }

  template <class F>
  bool parse_list(char close, F parse_item) {
    if (take(close)) return true;
    do
      if (!parse_item()) return false;
    while (take(','));
    return expect(close);
  }

  bool parse_param() {
    TypedName param;
    if (!parse_definition(param)) return false;
    define(param, module_.add_region_arg(module_.body, param.type, param.name.text));
    int64_t divisibility = 1;
    if (take('{')) {
      if (!expect_word("div") || !expect('=')) return false;
      if (now().kind != TokenKind::kInt || now().integer < 1) return fail("a positive integer");
      divisibility = next().integer;
      if (!expect('}')) return false;
    }
    module_.params.push_back({param.name.text, divisibility});
    return true;
  }

  bool parse_definition(TypedName& out) {
    if (now().kind != TokenKind::kValue) return fail("'%' and a name");
    out.name = next();
    if (!expect(':')) return false;
    auto type = now().kind == TokenKind::kWord ? parse_type(now().text) : std::nullopt;
    if (!type) return fail("a type such as f32, ptr<f16> or tile<64x32xi1>");
    out.type = std::move(*type);
    next();
    return true;
  }

  bool parse_attrs(Attrs& attrs) {
    if (!expect('{')) return false;
    return parse_list('}', [&] {
      if (now().kind != TokenKind::kWord) return fail("an attribute's name");
      Token key = next();
      if (attrs.has(key.text)) {
        sink_.error(DiagKind::kIrSyntax, key.span, "attribute '" + key.text + "' is given twice");
        return false;
      }
      AttrValue value;
      if (!expect('=') || !parse_attr_value(value)) return false;
      attrs.set(key.text, std::move(value));
      return true;
    });
  }

  bool parse_attr_value(AttrValue& value) {
    switch (now().kind) {
      case TokenKind::kInt:
        value = next().integer;
        return true;
      case TokenKind::kFloat:
        value = next().number;
        return true;
      case TokenKind::kWord:
      case TokenKind::kString:
        value = next().text;
        return true;
      default:
        break;
    }
    if (!take('[')) return fail("an attribute's value");
    std::vector<int64_t> list;
    bool good = parse_list(']', [&] {
      if (now().kind != TokenKind::kInt) return fail("an integer");
      list.push_back(next().integer);
      return true;
    });
    value = std::move(list);
    return good;
  }

  // '{' ops '}'. After an error in an op, goes on with the next line.
  bool parse_block(RegionId region, int depth) {
    if (depth > kMaxDepth) {
      sink_.error(DiagKind::kIrSyntax, now().span, "regions are nested too deeply");
      return false;
    }
    if (!expect('{')) return false;
    bool good = true;
    while (!take('}')) {
      if (now().kind == TokenKind::kEnd) return fail("'}'");
      if (parse_op(region, depth)) continue;
      good = false;
      if (sink_.error_count() > DiagSink::kMaxErrors || !recover()) return false;
    }
    return good;
  }

  bool parse_op(RegionId region, int depth) {
    std::vector<TypedName> results;
    Span span = now().span;
    if (now().kind == TokenKind::kValue) {
      do
        if (!parse_definition(results.emplace_back())) return false;
      while (take(','));
      if (!expect('=')) return false;
    }
    auto op = now().kind == TokenKind::kWord ? op_from_mnemonic(now().text) : std::nullopt;
    if (!op) return fail("an op");
    span = join(span, next().span);
    std::vector<Type> types;
    for (const TypedName& result : results) types.push_back(result.type);
    OpId id = module_.add_op(*op, {}, {}, {}, types);
    module_.append(region, id);
    for (size_t i = 0; i < results.size(); ++i) define(results[i], module_.op(id).results[i]);
    if (now().kind == TokenKind::kValue && !now().starts_line) {
      do {
        if (now().kind != TokenKind::kValue) return fail("an operand");
        span = join(span, now().span);
        uses_.push_back({id, module_.op(id).operands.size(), now()});
        module_.op(id).operands.emplace_back();
        next();
      } while (take(','));
    }
    if (now().is('{') && !parse_attrs(module_.op(id).attrs)) return false;
    module_.op(id).span = span;
    while (now().is_word("region"))
      if (!parse_region(id, depth)) return false;
    return parse_location();
  }

  bool parse_region(OpId owner, int depth) {
    next();
    RegionId region = module_.add_region(owner);
    bool good = expect('(') && parse_list(')', [&] {
                  TypedName arg;
                  if (!parse_definition(arg)) return false;
                  define(arg, module_.add_region_arg(region, arg.type));
                  return true;
                });
    return good && parse_block(region, depth + 1);
  }

  // loc(line:column) is for people; the ops of a parsed module carry their place in this text.
  bool parse_location() {
    if (!now().is_word("loc")) return true;
    next();
    if (!expect('(')) return false;
    for (char after : {':', ')'}) {
      if (now().kind != TokenKind::kInt) return fail("an integer");
      next();
      if (!expect(after)) return false;
    }
    return true;
  }

  // ---- names ----
  void define(const TypedName& result, ValueId value) {
    bool is_number = result.name.text.find_first_not_of("0123456789") == std::string::npos;
    module_.value(value).name = is_number ? "" : result.name.text;
    auto [it, added] = names_.emplace(result.name.text, Definition{value, result.name.span});
    if (added) return;
    sink_
        .error(DiagKind::kIrSyntax, result.name.span,
               "the value '%" + result.name.text + "' is defined twice")
        .notes.push_back({it->second.span, "first defined here"});
  }

  void resolve() {
    for (const Use& use : uses_) {
      auto it = names_.find(use.token.text);
      if (it == names_.end())
        sink_.error(DiagKind::kIrSyntax, use.token.span,
                    "there is no value named '%" + use.token.text + "'");
      else
        module_.op(use.op).operands[use.operand] = it->second.value;
    }
  }

  std::vector<Token> tokens_;
  DiagSink& sink_;
  size_t at_ = 0;
  Module module_;
  std::vector<Use> uses_;
  std::unordered_map<std::string, Definition> names_;
};

}  // namespace

Result<Module> parse(std::string_view path, std::string_view text) {
  SourceMap sources;
  uint16_t file = sources.add(std::string(path), std::string(text));
  DiagSink sink;
  std::vector<Token> tokens = lex(sources.file(file).text(), file, sink);
  if (!sink.has_errors()) {
    Module module = Parser(std::move(tokens), sink).run();
    if (!sink.has_errors()) return module;
  }
  sink.sort();
  ErrorInfo error = make_error(sink.all().front().kind, sink.all().front().message);
  error.details = render(sink, sources);
  return error;
}

}  // namespace tilewright::ir
