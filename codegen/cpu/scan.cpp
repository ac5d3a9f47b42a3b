// scan: one element after the other along the axis, with the prefix in a register. Rows along the
// innermost axis go one at a time; along another axis, lanes are neighbours that are scanned side
// by side.
#include <fmt/format.h>

#include "codegen/cpu/combine.h"

namespace tilewright::cpu {

using ir::OpNode;
using ir::ValueId;

namespace {

class ScanEmitter : Combiner {
 public:
  ScanEmitter(Emitter& e, const OpNode& op)
      : Combiner(e, op),
        shape_(e.type(op.operands[0]).shape),
        axis_(static_cast<size_t>(op.attrs.get_int("axis"))),
        reverse_(op.attrs.get_int("reverse", 0) != 0) {}

  void run() {
    bool innermost = true;
    for (size_t d = axis_ + 1; d < shape_.size(); ++d) innermost = innermost && shape_[d] == 1;
    ir::Shape others = shape_;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(axis_));
    int width = innermost || has_branches() ? 1 : kChunk;
    e_.for_chunks(others, width, [&](const Index& rows) { scan(rows); });
  }

 private:
  Index element(const Index& rows, const I64& position) const {
    Index index = rows;
    index.dims.insert(index.dims.begin() + static_cast<std::ptrdiff_t>(axis_),
                      DimIndex{position, {}});
    return index;
  }

  void give(const Values& values, const Index& index) {
    for (size_t k = 0; k < arity(); ++k) {
      ValueId result = op_.results[k];
      if (!e_.plan().is_buffer(result)) continue;
      Lanes lanes = index.width == 1 ? Lanes::uniform(values[k]) : Lanes::of_vector(values[k]);
      e_.write_buffer(e_.buffer_address(e_.plan().buffer[result.index]), e_.type(result), index,
                      lanes);
    }
  }

  void scan(const Index& rows) {
    const int64_t extent = shape_[axis_];
    const int width = rows.width;
    Index first = element(rows, {reverse_ ? extent - 1 : 0, {}});
    Values prefix = evaluate(first);
    give(prefix, first);
    if (extent == 1) return;
    std::string before = e_.text.current_block();
    // The loop counts from 0, elements from 1; a loop also for one element, for the phis.
    Emitter::Loop loop = e_.begin_loop(std::max<int64_t>(extent - 1, 2), 1);
    loop.bound = extent - 1;
    Values carried, next;
    for (size_t k = 0; k < arity(); ++k) {
      carried.push_back(e_.text.fresh());
      next.push_back(e_.text.fresh());
      e_.text.let_as(carried[k], fmt::format("phi {} [ {}, %{} ], [ {}, %{} ]",
                                             vector_type(element_of(k), width), prefix[k], before,
                                             next[k], loop.latch));
    }
    I64 position = e_.add(loop.index, {1, {}});
    if (reverse_)
      position = {
          0, e_.text.let(fmt::format("sub nuw nsw i64 {}, {}", extent - 2, loop.index.text()))};
    Index here = element(rows, position);
    Values combined = combine(carried, evaluate(here), width);
    for (size_t k = 0; k < arity(); ++k)
      e_.text.let_as(next[k],
                     fmt::format("freeze {} {}", vector_type(element_of(k), width), combined[k]));
    give(next, here);
    e_.end_loop(loop);
  }

  const ir::Shape& shape_;
  size_t axis_;
  bool reverse_;
};

}  // namespace

void emit_Scan(Emitter& e, const OpNode& op) {
  for (ValueId result : op.results)
    if (e.plan().is_buffer(result)) return ScanEmitter(e, op).run();
}

}  // namespace tilewright::cpu
