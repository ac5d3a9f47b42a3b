#include <fmt/format.h>

#include "frontend/builtins.h"

namespace tilewright::frontend {
namespace {

struct Section {
  std::string_view prefix;  // of the names, the longest match wins; "" is Python's own
  std::string_view title;
};

constexpr Section kSections[] = {
    {"tl.", "triton.language"},
    {"tl.math.", "triton.language.math"},
    {"libdevice.", "triton.language.extra.libdevice"},
    {"tl.extra.", "triton.language.extra.cuda"},
    {"tl.target_info.", "triton.language.target_info"},
    {"triton.", "triton"},
    {"", "Python"},
    {"math.", "Python's math, on constants"},
    {"tensor.", "Methods of tensors"},
    {"block.", "Methods of block pointers and tensor descriptors"},
    {"dtype.", "Methods of dtypes"},
    {"number.", "Methods of constants"},
    {"triton_helpers.", "torch._inductor.runtime.triton_helpers"},
};

const Section& section_of(const Builtin& row) {
  const Section* best = nullptr;
  for (const Section& section : kSections) {
    bool fits = section.prefix.empty() ? row.name.find('.') == row.name.npos
                                       : row.name.starts_with(section.prefix);
    if (fits && (!best || section.prefix.size() > best->prefix.size())) best = &section;
  }
  return *best;
}

std::string signature(const Builtin& row) {
  std::string out;
  for (const BuiltinParam& param : builtin_params(row)) {
    out += fmt::format("{}{}{}", out.empty() ? "" : ", ", param.variadic ? "*" : "", param.name);
    if (param.default_value) out += "=" + to_string(*param.default_value);
  }
  return fmt::format("{}({})", row.name, out);
}

}  // namespace

std::string builtins_page() {
  std::string out =
      "# Builtins\n\nWritten from `builtins.def`; a test fails when this page is out of date. "
      "*(library)* marks functions that `library.py` defines in the language itself.\n";
  for (const Section& section : kSections) {
    std::string rows, aliases, refused;
    for (const Builtin& row : all_builtins()) {
      if (row.kind == Builtin::Kind::kDialect || &section_of(row) != &section) continue;
      if (row.kind == Builtin::Kind::kAlias)
        aliases += fmt::format("{}`{}`", aliases.empty() ? "" : ", ", row.name);
      else if (row.kind == Builtin::Kind::kUnsupported)
        refused += fmt::format("{}`{}`", refused.empty() ? "" : ", ", row.name);
      else
        rows += fmt::format("- `{}`: {}{}\n", signature(row), row.doc,
                            row.kind == Builtin::Kind::kLibrary ? " *(library)*" : "");
    }
    out += fmt::format("\n## {}\n\n{}", section.title, rows);
    if (!aliases.empty())
      out += fmt::format("\nThe same as functions of triton.language: {}.\n", aliases);
    if (!refused.empty()) out += fmt::format("\nNot supported yet: {}.\n", refused);
  }
  out += "\n## Vendor dialects\n\nRefused with `unsupported-dialect`:";
  for (const Builtin& row : all_builtins())
    if (row.kind == Builtin::Kind::kDialect) out += fmt::format(" `{}`", row.name);
  return out + ".\n";
}

}  // namespace tilewright::frontend
