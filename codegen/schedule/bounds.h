// Whether iterations exist, and what the index is in them, as ops.
#pragma once

#include "codegen/ir/builder.h"
#include "codegen/schedule/loop.h"

namespace tilewright::schedule {

// Makes ops with the builder, at its place. Exact for every lo, hi and step that the loop may have:
// nothing here overflows.
class Bounds {
 public:
  Bounds(const Loop& loop, ir::Builder& builder);

  // The index `count` iterations after `index`.
  ir::ValueId advance(ir::ValueId index, int count);
  // i1: there is an iteration `count` steps after that of `index`, which exists.
  ir::ValueId exists_after(ir::ValueId index, int count);
  // i1: the loop has more than `count` iterations.
  ir::ValueId exists(int count);

 private:
  ir::Builder& b_;
  ir::Type type_;
  ir::ValueId lo_, hi_, step_;
  std::optional<int64_t> constant_;
  bool down_;
};

}  // namespace tilewright::schedule
