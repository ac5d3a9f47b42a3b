// The tile IR: one kernel, all helpers inlined, in SSA form with regions.
//
// Everything lives in vectors owned by the Module and is named by 32-bit ids, so copying a Module
// copies it whole. Ops removed from a region stay in `ops` unreferenced until compact().
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/ir/attr.h"
#include "codegen/ir/op_info.h"
#include "codegen/ir/type.h"
#include "dsl/base/result.h"
#include "dsl/base/source.h"

namespace tilewright::ir {

template <class Tag>
struct Id {
  uint32_t index = kNone;
  static constexpr uint32_t kNone = 0xffffffff;
  bool valid() const { return index != kNone; }
  friend bool operator==(Id, Id) = default;
  friend auto operator<=>(Id, Id) = default;
};
using ValueId = Id<struct ValueTag>;
using OpId = Id<struct OpTag>;
using RegionId = Id<struct RegionTag>;

struct Value {
  Type type;
  OpId def;               // the op it is a result of, or
  RegionId region;        // the region it is an argument of
  uint32_t position = 0;  // index among the results or arguments
  std::string name;       // hint from the source, may be empty; need not be unique
};

struct OpNode {
  Op op{};
  Span span;
  std::vector<ValueId> operands;
  std::vector<ValueId> results;
  Attrs attrs;
  std::vector<RegionId> regions;
  RegionId parent;
};

struct Region {
  std::vector<ValueId> args;
  std::vector<OpId> ops;  // the last one is a terminator
  OpId parent;            // invalid for the kernel body
};

// A kernel parameter; its value is argument `i` of the body region. `divisibility` is a power of
// two that divides the integer, or the address in bytes (1 = nothing known).
struct Param {
  std::string name;
  int64_t divisibility = 1;
};

class Module {
 public:
  std::string name;           // kernel name
  std::vector<Param> params;  // parallel to region(body).args
  Attrs attrs;                // num_warps, num_stages, … as text-printable kernel attributes
  RegionId body;

  Value& value(ValueId id) { return values_[id.index]; }
  const Value& value(ValueId id) const { return values_[id.index]; }
  OpNode& op(OpId id) { return ops_[id.index]; }
  const OpNode& op(OpId id) const { return ops_[id.index]; }
  Region& region(RegionId id) { return regions_[id.index]; }
  const Region& region(RegionId id) const { return regions_[id.index]; }
  const Type& type(ValueId id) const { return values_[id.index].type; }
  // The op that defines a value, or null for region arguments.
  const OpNode* def(ValueId id) const {
    return values_[id.index].def.valid() ? &ops_[values_[id.index].def.index] : nullptr;
  }

  size_t value_count() const { return values_.size(); }
  size_t op_count() const { return ops_.size(); }
  size_t region_count() const { return regions_.size(); }

  RegionId add_region(OpId parent);
  ValueId add_region_arg(RegionId region, Type type, std::string name = {});
  // Creates an op that is not yet in a region; results get the given types.
  OpId add_op(Op op, Span span, std::vector<ValueId> operands, Attrs attrs,
              const std::vector<Type>& result_types);
  void append(RegionId region, OpId op);
  void insert(RegionId region, size_t position, OpId op);
  // Replaces every use of `from` as an operand by `to`.
  void replace_uses(ValueId from, ValueId to);
  // Drops everything that is not reachable from the body and renumbers the rest in the order of the
  // text. All ids but `body` change.
  void compact();

 private:
  std::vector<Value> values_;
  std::vector<OpNode> ops_;
  std::vector<Region> regions_;
};

// Visits the ops of a region and, after each op, those of its nested regions, in order.
void walk(const Module& module, RegionId region, const std::function<void(OpId)>& visit);

// Text form; parse(print(m)) gives an equal print. Grammar in codegen/ir/README.md.
std::string print(const Module& module);
// Errors are diagnostics on the IR text itself.
Result<Module> parse(std::string_view path, std::string_view text);
// Structural rules, then types and attributes by the op table. The error shows the listing with a
// caret.
Status verify(const Module& module);
// Result types by the op's type rule. kExplicit rules give an internal error.
Result<std::vector<Type>> infer_types(const Module& module, Op op,
                                      const std::vector<ValueId>& operands, const Attrs& attrs,
                                      const std::vector<RegionId>& regions);

}  // namespace tilewright::ir
