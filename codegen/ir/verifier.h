// What the parts of the verifier share: where errors go.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "codegen/ir/listing.h"
#include "codegen/ir/module.h"

namespace tilewright::ir {

// Errors about a module, placed in its own listing, which is made when the first error needs it.
class Verifier {
 public:
  explicit Verifier(const Module& module) : module(module) {}

  const Module& module;

  // At an op; an invalid id places the error at the kernel's first line.
  Diagnostic& error(DiagKind kind, OpId op, std::string message);
  void note(Diagnostic& diagnostic, OpId op, std::string message);
  bool has_errors() const { return sink_.has_errors(); }
  // '%name'
  std::string name(ValueId id) { return "'" + listing().name(id) + "'"; }
  Status status();

 private:
  const Listing& listing();
  Span span(OpId op);

  std::optional<Listing> listing_;
  DiagSink sink_;
};

// The rules of storage: ids are in range and references agree with back references. Without them
// nothing else can be asked of the module, not even its listing.
Status verify_storage(const Module& module);
// Terminators, region counts, and that every operand is visible where it is used.
void verify_structure(Verifier& verifier);
// Attributes by the op table, operand and result types by its type rules and op_rules.cpp.
void verify_op(Verifier& verifier, OpId op);
// Region arguments, terminator operands and results of `for`, `while`, `if` and `reduce`.
void verify_regions(Verifier& verifier, OpId op);

// What an op asks of its operand and result types beyond its type rule; empty if all is well.
std::string check_op_types(const Module& module, const OpNode& node);
// Whether a type can exist: extents are powers of two, at most 5 dimensions and 2^20 elements; a
// buffer has 1 to 64 slots of such a tile.
std::string check_type(const Type& type);

}  // namespace tilewright::ir
