#include "codegen/ir/builder.h"

#include "dsl/base/check.h"

namespace tilewright::ir {

ValueId Builder::make(Op op, std::vector<ValueId> operands, Attrs attrs) {
  auto types = infer_types(module_, op, operands, attrs, {});
  TW_CHECK(types.ok(), types.error().message);
  TW_CHECK(types->size() == 1, std::string(op_info(op).mnemonic) + " does not have one result");
  return module_.op(make_op(op, std::move(operands), std::move(attrs), *types)).results[0];
}

ValueId Builder::make_as(Op op, Type type, std::vector<ValueId> operands, Attrs attrs) {
  return module_.op(make_op(op, std::move(operands), std::move(attrs), {std::move(type)}))
      .results[0];
}

OpId Builder::make_op(Op op, std::vector<ValueId> operands, Attrs attrs,
                      const std::vector<Type>& types) {
  TW_CHECK(region_.valid(), "the builder has no region to append to");
  OpId id = module_.add_op(op, span_, std::move(operands), std::move(attrs), types);
  module_.append(region_, id);
  return id;
}

ValueId Builder::constant_int(Type type, int64_t value) {
  TW_CHECK(type.is_pointer || is_int(type.dtype), "an integer constant of a float type");
  return make_as(Op::Const, std::move(type), {}, {{"value", value}});
}

ValueId Builder::constant_float(Type type, double value) {
  TW_CHECK(!type.is_pointer && is_float(type.dtype), "a float constant of an integer type");
  return make_as(Op::Const, std::move(type), {}, {{"value", value}});
}

OpId Builder::make_for(ValueId lo, ValueId hi, ValueId step, std::vector<ValueId> init,
                       Attrs attrs) {
  std::vector<Type> types;
  for (ValueId value : init) types.push_back(module_.type(value));
  Type index = module_.type(lo);
  init.insert(init.begin(), {lo, hi, step});
  OpId id = make_op(Op::For, std::move(init), std::move(attrs), types);
  RegionId body = module_.add_region(id);
  module_.add_region_arg(body, index);
  for (const Type& type : types) module_.add_region_arg(body, type);
  return id;
}

OpId Builder::make_while(std::vector<ValueId> init) {
  std::vector<Type> types;
  for (ValueId value : init) types.push_back(module_.type(value));
  OpId id = make_op(Op::While, std::move(init), {}, types);
  for (int i = 0; i < 2; ++i) {
    RegionId region = module_.add_region(id);
    for (const Type& type : types) module_.add_region_arg(region, type);
  }
  return id;
}

OpId Builder::make_if(ValueId cond, const std::vector<Type>& result_types) {
  OpId id = make_op(Op::If, {cond}, {}, result_types);
  module_.add_region(id);
  module_.add_region(id);
  return id;
}

void Builder::yield(std::vector<ValueId> values) {
  make_op(Op::Yield, std::move(values), {}, {});
}

}  // namespace tilewright::ir
