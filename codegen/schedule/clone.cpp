#include "codegen/schedule/clone.h"

namespace tilewright::schedule {

using ir::OpId;
using ir::OpNode;
using ir::RegionId;
using ir::ValueId;

ValueId Cloner::mapped(ValueId value) const {
  auto found = map.find(value);
  return found == map.end() ? value : found->second;
}

void Cloner::copy(const std::vector<OpId>& ops, RegionId to) {
  for (OpId id : std::vector(ops))
    if (!replace(id, to)) copy_op(id, to);
}

void Cloner::copy_op(OpId op, RegionId to) {
  const OpNode node = m_.op(op);
  std::vector<ValueId> operands;
  for (ValueId operand : node.operands) operands.push_back(mapped(operand));
  std::vector<ir::Type> types;
  for (ValueId result : node.results) types.push_back(m_.type(result));
  OpId made = m_.add_op(node.op, node.span, std::move(operands), node.attrs, types);
  m_.append(to, made);
  for (size_t i = 0; i < node.results.size(); ++i) {
    ValueId result = m_.op(made).results[i];
    m_.value(result).name = m_.value(node.results[i]).name;
    map[node.results[i]] = result;
  }
  for (RegionId from : node.regions) {
    const ir::Region region = m_.region(from);
    RegionId nested = m_.add_region(made);
    for (ValueId arg : region.args)
      map[arg] = m_.add_region_arg(nested, m_.type(arg), m_.value(arg).name);
    copy(region.ops, nested);
  }
}

}  // namespace tilewright::schedule
