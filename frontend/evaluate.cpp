#include "frontend/evaluate.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "dsl/parser.h"
#include "frontend/fold.h"

namespace tilewright::frontend {
namespace {

using dsl::Expr;
using dsl::ExprKind;
using dsl::Operator;
using Kind = Constant::Kind;

ErrorInfo bad(std::string message) {
  return make_error(DiagKind::kBadArgument, std::move(message));
}

Constant boolean(bool value) {
  return Constant::boolean(value);
}

class Evaluator {
 public:
  explicit Evaluator(const NameLookup& lookup) : lookup_(lookup) {}

  Result<Constant> eval(const Expr& e) const {
    switch (e.kind) {
      case ExprKind::kInt:
        return integer(e);
      case ExprKind::kFloat:
        return Constant::real(e.number);
      case ExprKind::kString:
        return Constant::string(e.text);
      case ExprKind::kTrue:
        return boolean(true);
      case ExprKind::kFalse:
        return boolean(false);
      case ExprKind::kNone:
        return Constant::none();
      case ExprKind::kName:
        return name(e.text);
      case ExprKind::kAttribute:
        return attribute(e);
      case ExprKind::kTuple:
      case ExprKind::kList:
        return sequence(e);
      case ExprKind::kUnary:
        return unary(e);
      case ExprKind::kBinary:
        return binary(e);
      case ExprKind::kBoolOp:
        return bool_op(e);
      case ExprKind::kCompare:
        return compare(e);
      case ExprKind::kTernary:
        return ternary(e);
      case ExprKind::kSubscript:
        return subscript(e);
      case ExprKind::kCall:
        return call(e);
      default:
        return bad("this form of expression is not evaluated on the host");
    }
  }

 private:
  static Constant integer(const Expr& e) {
    Constant c = Constant::integer_of(static_cast<int64_t>(e.int_bits));
    c.is_unsigned = e.int_bits > static_cast<uint64_t>(INT64_MAX);
    return c;
  }

  Result<Constant> name(std::string_view name) const {
    if (auto value = lookup_(name)) return *value;
    if (auto dtype = parse_dtype(name)) return Constant::type(*dtype);
    return make_error(DiagKind::kUnknownName, fmt::format("name '{}' is not defined", name));
  }

  // Module prefixes do not matter: tl.float16 and torch.float16 are the same dtype.
  Result<Constant> attribute(const Expr& e) const {
    if (auto dtype = parse_dtype(e.text)) return Constant::type(*dtype);
    return make_error(DiagKind::kUnknownName,
                      fmt::format("'{}' is not known on the host side", e.text));
  }

  Result<Constant> sequence(const Expr& e) const {
    Constant tuple;
    tuple.kind = Kind::kTuple;
    for (const Expr* child : e.children) {
      TW_ASSIGN(auto element, eval(*child));
      tuple.elements.push_back(std::move(element));
    }
    return tuple;
  }

  Result<Constant> unary(const Expr& e) const {
    TW_ASSIGN(auto x, eval(*e.children[0]));
    return fold_unary(e.op, x);
  }

  Result<Constant> binary(const Expr& e) const {
    TW_ASSIGN(auto a, eval(*e.children[0]));
    TW_ASSIGN(auto b, eval(*e.children[1]));
    if (e.op == Operator::kAdd && a.kind == Kind::kTuple && b.kind == Kind::kTuple) {
      a.elements.insert(a.elements.end(), b.elements.begin(), b.elements.end());
      return a;
    }
    return fold_binary(e.op, a, b);
  }

  Result<Constant> bool_op(const Expr& e) const {
    Constant value;
    for (const Expr* child : e.children) {
      TW_ASSIGN(value, eval(*child));
      if (truth(value) == (e.op == Operator::kBoolOr)) break;
    }
    return value;
  }

  Result<Constant> compare(const Expr& e) const {
    TW_ASSIGN(auto left, eval(*e.children[0]));
    for (size_t i = 0; i < e.ops.size(); ++i) {
      TW_ASSIGN(auto right, eval(*e.children[i + 1]));
      TW_ASSIGN(auto holds, fold_binary(e.ops[i], left, right));
      if (!truth(holds)) return boolean(false);
      left = std::move(right);
    }
    return boolean(true);
  }

  Result<Constant> ternary(const Expr& e) const {
    TW_ASSIGN(auto condition, eval(*e.children[0]));
    return eval(*e.children[truth(condition) ? 1 : 2]);
  }

  Result<Constant> subscript(const Expr& e) const {
    if (e.children.size() != 2 || !e.children[1]) return bad("a subscript takes one index");
    TW_ASSIGN(auto index, eval(*e.children[1]));
    if (index.kind == Kind::kString) return name(index.text);
    TW_ASSIGN(auto base, eval(*e.children[0]));
    if (base.kind != Kind::kTuple || index.kind != Kind::kInt)
      return bad("only tuples can be indexed, by an integer");
    auto size = static_cast<int64_t>(base.elements.size());
    int64_t i = index.integer < 0 ? index.integer + size : index.integer;
    if (i < 0 || i >= size)
      return bad(fmt::format("index {} is outside of a tuple of {}", index.integer, size));
    return base.elements[static_cast<size_t>(i)];
  }

  Result<Constant> call(const Expr& e) const {
    const Expr& callee = *e.children[0];
    if (callee.kind != ExprKind::kName && callee.kind != ExprKind::kAttribute)
      return bad("this call is not evaluated on the host");
    if (!e.keywords.empty())
      return bad(fmt::format("{} takes no keyword arguments here", callee.text));
    std::vector<Constant> args;
    for (size_t i = 1; i < e.children.size(); ++i) {
      TW_ASSIGN(auto value, eval(*e.children[i]));
      args.push_back(std::move(value));
    }
    return apply(callee.text, args);
  }

  static Result<Constant> apply(std::string_view function, std::vector<Constant>& args) {
    if ((function == "min" || function == "max") && args.size() == 1 &&
        args[0].kind == Kind::kTuple)
      args = std::vector<Constant>(args[0].elements);
    if (function == "float" && args.size() == 1 && args[0].kind == Kind::kString)
      return float_of_text(args[0].text);
    for (const Constant& arg : args)
      if (!is_number(arg) && function != "len" && function != "bool")
        return bad(fmt::format("{} takes numbers, not {}", function, to_string(arg)));
    if ((function == "min" || function == "max") && !args.empty()) {
      Constant best = args[0];
      for (const Constant& arg : args) {
        TW_ASSIGN(auto better,
                  fold_binary(function == "min" ? Operator::kLt : Operator::kGt, arg, best));
        if (truth(better)) best = arg;
      }
      return best;
    }
    if (function == "cdiv" && args.size() == 2) {
      TW_ASSIGN(auto negated, fold_unary(Operator::kNeg, args[0]));
      TW_ASSIGN(auto quotient, fold_binary(Operator::kFloorDiv, negated, args[1]));
      return fold_unary(Operator::kNeg, quotient);
    }
    if (args.size() == 1) return apply_unary(function, args[0]);
    return make_error(DiagKind::kUnknownName,
                      fmt::format("function '{}' of {} arguments is not known on the host side",
                                  function, args.size()));
  }

  static Result<Constant> apply_unary(std::string_view function, const Constant& x) {
    if (function == "next_power_of_2" && is_integer(x)) {
      int64_t power = 1;
      while (power < x.integer && power < (int64_t{1} << 62)) power *= 2;
      return Constant::integer_of(power);
    }
    if (function == "len" && x.kind == Kind::kTuple)
      return Constant::integer_of(static_cast<int64_t>(x.elements.size()));
    if (function == "bool") return boolean(truth(x));
    if (function == "float" && is_number(x)) return Constant::real(as_double(x));
    if (function == "int" && is_integer(x)) return Constant::integer_of(x.integer);
    if (function == "int" && std::fabs(x.number) < 0x1p63)
      return Constant::integer_of(static_cast<int64_t>(x.number));
    if (function == "abs") {
      bool negative =
          x.kind == Kind::kFloat ? std::signbit(x.number) : x.integer < 0 && !x.is_unsigned;
      return negative ? fold_unary(Operator::kNeg, x) : Result<Constant>(x);
    }
    return make_error(DiagKind::kUnknownName,
                      fmt::format("function '{}' is not known on the host side", function));
  }

  const NameLookup& lookup_;
};

}  // namespace

Result<Constant> float_of_text(std::string_view text) {
  std::string_view word = text;
  double sign = word.starts_with('-') ? -1.0 : 1.0;
  if (word.starts_with('-') || word.starts_with('+')) word.remove_prefix(1);
  if (word == "inf" || word == "infinity")
    return Constant::real(sign * std::numeric_limits<double>::infinity());
  if (word == "nan") return Constant::real(std::numeric_limits<double>::quiet_NaN());
  return bad(fmt::format("float takes 'inf' or 'nan' as text here, not '{}'", text));
}

Result<Constant> evaluate(const Expr& expr, const NameLookup& lookup) {
  return Evaluator(lookup).eval(expr);
}

Result<Constant> evaluate_text(std::string_view text, const NameLookup& lookup) {
  if (text.find_first_not_of(" \t\n") == text.npos)
    return make_error(DiagKind::kSyntax, "there is no expression");
  SourceMap sources;
  DiagSink sink;
  uint16_t file = sources.add("<expression>", "_ = (" + std::string(text) + ")\n");
  auto ast = dsl::parse_file(sources, file, sink);
  if (sink.has_errors() || ast->body.size() != 1 || !ast->body[0]->value)
    return make_error(DiagKind::kSyntax, fmt::format("'{}' is not an expression", text));
  return evaluate(*ast->body[0]->value, lookup);
}

}  // namespace tilewright::frontend
