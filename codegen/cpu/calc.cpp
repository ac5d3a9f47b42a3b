#include "codegen/cpu/calc.h"

#include <fmt/format.h>

namespace tilewright::cpu {

Calc::V Calc::intrinsic(std::string_view name, const std::vector<V>& operands) const {
  std::string function = fmt::format("@llvm.{}.{}", name, intrinsic_suffix(element_, width_));
  std::string arguments, types;
  for (size_t i = 0; i < operands.size(); ++i) {
    arguments += fmt::format("{}{} {}", i ? ", " : "", type_, operands[i]);
    types += (i ? ", " : "") + type_;
  }
  e_.declare(fmt::format("declare {} {}({})", type_, function, types));
  return let(fmt::format("call {} {}({})", type_, function, arguments));
}

Calc::V Calc::library_call(const std::string& name, const std::vector<V>& operands) const {
  std::string types, scalars;
  for (size_t i = 0; i < operands.size(); ++i) types += (i ? ", " : "") + element_;
  e_.declare(fmt::format("declare {} @{}({}) nounwind readnone", element_, name, types));
  auto call = [&](const std::string& function, const std::string& type) {
    std::string arguments;
    for (size_t i = 0; i < operands.size(); ++i)
      arguments += fmt::format("{}{} {}", i ? ", " : "", type, operands[i]);
    return let(fmt::format("call {} {}({})", type, function, arguments));
  };
  if (width_ == 1) return call("@" + name, element_);
  // A function that loops over the lanes: inline, sixteen calls would be emitted at each use.
  std::string helper = fmt::format("@tw.{}.v{}", name, width_);
  std::string parameters, elements;
  std::string body;
  for (size_t i = 0; i < operands.size(); ++i) {
    parameters += fmt::format("{}{} %x{}", i ? ", " : "", type_, i);
    body += fmt::format("  %e{0} = extractelement {1} %x{0}, i32 %i\n", i, type_);
    elements += fmt::format("{}{} %e{}", i ? ", " : "", element_, i);
  }
  e_.define(helper, fmt::format("define internal {0} {1}({2}) nounwind noinline {{\n"
                                "entry:\n  br label %loop\n"
                                "loop:\n  %i = phi i32 [ 0, %entry ], [ %next, %loop ]\n"
                                "  %r = phi {0} [ poison, %entry ], [ %s, %loop ]\n{3}"
                                "  %y = call {4} @{5}({6})\n"
                                "  %s = insertelement {0} %r, {4} %y, i32 %i\n"
                                "  %next = add i32 %i, 1\n  %more = icmp ult i32 %next, {7}\n"
                                "  br i1 %more, label %loop, label %done\n"
                                "done:\n  ret {0} %s\n}}\n",
                                type_, helper, parameters, body, element_, name, elements, width_));
  return call(helper, type_);
}

}  // namespace tilewright::cpu
