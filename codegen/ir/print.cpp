#include <bit>
#include <charconv>
#include <cmath>
#include <unordered_map>

#include "codegen/ir/listing.h"

namespace tilewright::ir {
namespace {

bool is_name_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.';
}

bool is_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
}

// A hint as the text form can hold it. Numbers are kept for values without a hint.
std::string clean_hint(std::string_view hint) {
  std::string out;
  for (char c : hint) out += is_name_char(c) ? c : '_';
  return is_digits(out) ? "_" + out : out;
}

// Gives every value a name of its own: the hint, else the hint with the first free number (%acc,
// %acc.1), else a number.
class Namer {
 public:
  explicit Namer(const Module& module) : module_(module), names_(module.value_count()) {
    if (module.body.valid()) name_region(module.body);
  }
  std::vector<std::string> take() { return std::move(names_); }

 private:
  void name_region(RegionId region) {
    const Region& r = module_.region(region);
    for (size_t i = 0; i < r.args.size(); ++i) {
      bool is_param = region == module_.body && i < module_.params.size();
      name_value(r.args[i], is_param ? module_.params[i].name : module_.value(r.args[i]).name);
    }
    for (OpId op : r.ops) {
      for (ValueId result : module_.op(op).results) name_value(result, module_.value(result).name);
      for (RegionId nested : module_.op(op).regions) name_region(nested);
    }
  }

  void name_value(ValueId id, std::string_view hint) {
    if (id.index >= names_.size() || !names_[id.index].empty()) return;
    names_[id.index] = "%" + unique(clean_hint(hint));
  }

  std::string unique(const std::string& hint) {
    if (hint.empty()) {
      std::string name;
      do name = std::to_string(next_number_++);
      while (!used_.emplace(name, 1).second);
      return name;
    }
    if (used_.emplace(hint, 1).second) return hint;
    size_t dot = hint.rfind('.');
    bool has_suffix = dot != hint.npos && dot > 0 && is_digits(hint.substr(dot + 1));
    std::string base = has_suffix ? hint.substr(0, dot) : hint;
    std::string name;
    do name = base + "." + std::to_string(next_suffix_[base] += 1);
    while (!used_.emplace(name, 1).second);
    return name;
  }

  const Module& module_;
  std::vector<std::string> names_;
  std::unordered_map<std::string, int> used_, next_suffix_;
  int next_number_ = 0;
};

std::string attr_text(const AttrValue& value) {
  if (const auto* number = std::get_if<int64_t>(&value)) return std::to_string(*number);
  if (const auto* number = std::get_if<double>(&value)) return float_text(*number);
  if (const auto* list = std::get_if<std::vector<int64_t>>(&value)) {
    std::string out = "[";
    for (size_t i = 0; i < list->size(); ++i) out += (i ? ", " : "") + std::to_string((*list)[i]);
    return out + "]";
  }
  const std::string& text = std::get<std::string>(value);
  bool is_word = !text.empty() && !(text[0] >= '0' && text[0] <= '9') && text[0] != '.' &&
                 text != "inf" && text != "nan";
  for (char c : text) is_word = is_word && is_name_char(c);
  return is_word ? text : quoted(text);
}

class Printer {
 public:
  Printer(const Module& module, const SourceMap* sources) : module_(module), sources_(sources) {
    out_.value_names = Namer(module).take();
    out_.op_spans.resize(module.op_count(), Span{0, 0, 0});
  }

  Listing print() && {
    out_.text = "kernel @" + clean_hint(module_.name) + "(";
    if (module_.body.valid()) print_params();
    out_.text += ")";
    if (!module_.attrs.empty()) out_.text += " attributes " + to_string(module_.attrs);
    out_.text += " {";
    out_.header = {0, end(), 0};
    out_.text += "\n";
    if (module_.body.valid()) print_ops(module_.body, 1);
    out_.text += "}\n";
    return std::move(out_);
  }

 private:
  uint32_t end() const { return static_cast<uint32_t>(out_.text.size()); }

  void print_params() {
    const auto& args = module_.region(module_.body).args;
    for (size_t i = 0; i < args.size(); ++i) {
      out_.text += i ? ", " : "";
      print_definition(args[i]);
      int64_t divisibility = i < module_.params.size() ? module_.params[i].divisibility : 1;
      if (divisibility != 1) out_.text += " {div=" + std::to_string(divisibility) + "}";
    }
  }

  void print_definition(ValueId id) {
    out_.text += out_.name(id) + ": " + to_string(module_.type(id));
  }

  void print_ops(RegionId region, int depth) {
    for (OpId op : module_.region(region).ops) print_op(op, depth);
  }

  void print_op(OpId id, int depth) {
    const OpNode& node = module_.op(id);
    out_.text.append(2 * depth, ' ');
    uint32_t begin = end();
    for (size_t i = 0; i < node.results.size(); ++i) {
      out_.text += i ? ", " : "";
      print_definition(node.results[i]);
    }
    if (!node.results.empty()) out_.text += " = ";
    out_.text += op_info(node.op).mnemonic;
    for (size_t i = 0; i < node.operands.size(); ++i)
      out_.text += (i ? ", " : " ") + out_.name(node.operands[i]);
    if (!node.attrs.empty()) out_.text += " " + to_string(node.attrs);
    out_.op_spans[id.index] = {begin, end(), 0};
    for (RegionId region : node.regions) print_region(region, depth);
    if (sources_ && node.span.valid() && node.span.file < sources_->size()) {
      LineColumn at = sources_->file(node.span.file).locate(node.span.begin);
      out_.text += " loc(" + std::to_string(at.line) + ":" + std::to_string(at.column) + ")";
    }
    out_.text += "\n";
  }

  void print_region(RegionId region, int depth) {
    out_.text += " region(";
    const auto& args = module_.region(region).args;
    for (size_t i = 0; i < args.size(); ++i) {
      out_.text += i ? ", " : "";
      print_definition(args[i]);
    }
    out_.text += ") {\n";
    print_ops(region, depth + 1);
    out_.text.append(2 * depth, ' ');
    out_.text += "}";
  }

  const Module& module_;
  const SourceMap* sources_;
  Listing out_;
};

}  // namespace

std::string Listing::name(ValueId id) const {
  if (id.index < value_names.size() && !value_names[id.index].empty()) return value_names[id.index];
  return id.valid() ? "%?" + std::to_string(id.index) : "%?";
}

std::string float_text(double value) {
  if (std::isnan(value)) {
    auto bits = std::bit_cast<uint64_t>(value);
    constexpr uint64_t kQuietNan = 0x7ff8000000000000;
    if (bits == kQuietNan) return "nan";
    char digits[17];
    auto end = std::to_chars(digits, digits + sizeof digits, bits, 16).ptr;
    return "nan(0x" + std::string(digits, end) + ")";
  }
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  char digits[32];
  std::string out(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
  return out.find_first_of(".e") == out.npos ? out + ".0" : out;
}

std::string quoted(std::string_view text) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string out = "\"";
  for (char c : text) {
    auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      out += std::string("\\") + c;
    else if (c == '\n')
      out += "\\n";
    else if (c == '\t')
      out += "\\t";
    else if (byte < 0x20 || byte == 0x7f)
      out += std::string("\\x") + kHex[byte >> 4] + kHex[byte & 15];
    else
      out += c;
  }
  return out + "\"";
}

std::string to_string(const Attrs& attrs) {
  if (attrs.empty()) return "";
  std::string out = "{";
  for (const auto& [key, value] : attrs) {
    if (out.size() > 1) out += ", ";
    out += key + "=" + attr_text(value);
  }
  return out + "}";
}

Listing list(const Module& module, const SourceMap* sources) {
  return Printer(module, sources).print();
}

std::string print(const Module& module) {
  return list(module).text;
}

}  // namespace tilewright::ir
