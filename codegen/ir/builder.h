// Appends ops to a region. Types follow from the op table's type rules unless given. Building
// something ill-typed is a defect of the caller (InternalError); user mistakes are diagnosed
// before.
#pragma once

#include <string>
#include <vector>

#include "codegen/ir/module.h"

namespace tilewright::ir {

class Builder {
 public:
  explicit Builder(Module& module) : module_(module) {}

  Module& module() { return module_; }
  void set_region(RegionId region) { region_ = region; }
  RegionId region() const { return region_; }
  void set_span(Span span) { span_ = span; }
  Span span() const { return span_; }

  // One result, type by rule.
  ValueId make(Op op, std::vector<ValueId> operands, Attrs attrs = {});
  // One result of an explicit type.
  ValueId make_as(Op op, Type type, std::vector<ValueId> operands, Attrs attrs = {});
  // Any number of results of explicit types (none for store, yield, …).
  OpId make_op(Op op, std::vector<ValueId> operands, Attrs attrs, const std::vector<Type>& types);

  ValueId constant_int(Type type, int64_t value);
  ValueId constant_float(Type type, double value);

  // Control flow: creates the op with empty regions and leaves the insertion point where it was;
  // the caller fills the regions (set_region) and ends each with yield.
  OpId make_for(ValueId lo, ValueId hi, ValueId step, std::vector<ValueId> init, Attrs attrs = {});
  OpId make_while(std::vector<ValueId> init);
  OpId make_if(ValueId cond, const std::vector<Type>& result_types);
  void yield(std::vector<ValueId> values);

 private:
  Module& module_;
  RegionId region_;
  Span span_;
};

}  // namespace tilewright::ir
