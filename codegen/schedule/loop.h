// One `for` loop as the schedule pass sees it: what is defined inside, who uses what, and which
// values can be computed for a later iteration by copying the ops behind them.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "codegen/ir/module.h"

namespace tilewright::schedule {

class Loop {
 public:
  Loop(const ir::Module& module, ir::OpId op);

  ir::OpId op;
  ir::RegionId body;
  std::vector<ir::OpId> ops;    // all ops inside, nested ones after their owner
  std::vector<ir::OpId> loads;  // those in the body itself

  const ir::OpNode& node() const { return module_.op(op); }
  const ir::OpNode& yield() const { return module_.op(module_.region(body).ops.back()); }
  ir::ValueId iv() const { return module_.region(body).args[0]; }
  ir::ValueId lo() const { return node().operands[0]; }
  ir::ValueId hi() const { return node().operands[1]; }
  ir::ValueId step() const { return node().operands[2]; }
  // The step if it is a constant.
  std::optional<int64_t> constant_step() const;
  // The number of iterations if lo, hi and step are constants.
  std::optional<int64_t> trip_count() const;
  // Carried value j: its initial value, its region argument, what the body passes on.
  size_t carried() const { return node().results.size(); }
  ir::ValueId init(size_t j) const { return node().operands[3 + j]; }
  ir::ValueId arg(size_t j) const { return module_.region(body).args[1 + j]; }
  ir::ValueId next(size_t j) const { return yield().operands[j]; }
  std::optional<size_t> carried_index(ir::ValueId value) const;

  bool is_inside(ir::ValueId value) const {
    return value.index < inside_.size() && inside_[value.index];
  }
  // Ops inside that use a value.
  const std::vector<ir::OpId>& users(ir::ValueId value) const;

  // Why `value` cannot be computed ahead of its iteration; empty if it can. Then it follows, by
  // pure ops of the body, from the index, carried values whose own next values follow so without
  // loads, values from outside, and loads of the body (given to `loads`, each once).
  std::string cannot_advance(ir::ValueId value, std::vector<ir::OpId>* loads) const;

 private:
  std::string check(ir::ValueId value, bool in_recurrence, std::map<ir::ValueId, bool>& seen,
                    std::vector<ir::OpId>* loads) const;

  const ir::Module& module_;
  std::vector<bool> inside_;
  std::map<ir::ValueId, std::vector<ir::OpId>> users_;
};

// The integer behind a constant.
std::optional<int64_t> constant_int(const ir::Module& module, ir::ValueId value);

}  // namespace tilewright::schedule
