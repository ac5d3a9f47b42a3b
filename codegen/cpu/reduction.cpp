// reduce. The region is applied to vectors of lanes: along the innermost axis, partial results of a
// row are kept in lanes and folded by halves at the end; along another axis, lanes are neighbours
// that are folded side by side. A region with branches of its own is run one element at a time.
#include <fmt/format.h>

#include "codegen/cpu/combine.h"
#include "dsl/base/check.h"

namespace tilewright::cpu {

using ir::OpNode;
using ir::ValueId;

namespace {

using V = Combiner::V;
using Values = Combiner::Values;

class ReduceEmitter : Combiner {
 public:
  ReduceEmitter(Emitter& e, const OpNode& op)
      : Combiner(e, op),
        shape_(e.type(op.operands[0]).shape),
        axis_(static_cast<size_t>(op.attrs.get_int("axis"))) {}

  void run() {
    bool innermost = true;
    for (size_t d = axis_ + 1; d < shape_.size(); ++d) innermost = innermost && shape_[d] == 1;
    if (innermost)
      fold_rows();
    else
      fold_columns();
  }

 private:
  // Folds `first`, then what next(position) gives for positions step, 2 step, … below the bound.
  template <class Next>
  Values fold(Values first, int64_t bound, int64_t step, int width, Next next) {
    if (step >= bound) return first;
    V before = e_.text.current_block();
    // The loop counts from 0, positions from `step`.
    Emitter::Loop loop = begin_counted(bound - step, step);
    Values carried, after;
    for (size_t k = 0; k < arity(); ++k) {
      carried.push_back(e_.text.fresh());
      after.push_back(e_.text.fresh());
      e_.text.let_as(carried[k], fmt::format("phi {} [ {}, %{} ], [ {}, %{} ]",
                                             vector_type(element_of(k), width), first[k], before,
                                             after[k], loop.latch));
    }
    Values combined = combine(carried, next(e_.add(loop.index, {step, {}})), width);
    for (size_t k = 0; k < arity(); ++k)
      e_.text.let_as(after[k],
                     fmt::format("freeze {} {}", vector_type(element_of(k), width), combined[k]));
    e_.end_loop(loop);
    return after;
  }

  // A loop also when there is one iteration, so that the phis have a place.
  Emitter::Loop begin_counted(int64_t bound, int64_t step) {
    Emitter::Loop loop = e_.begin_loop(std::max(bound, step + 1), step);
    loop.bound = bound;
    return loop;
  }

  // 2w lanes to w by combining the halves, down to one.
  Values fold_lanes(Values values, int width) {
    while (width > 1) {
      int half = width / 2;
      std::vector<int64_t> low, high;
      for (int l = 0; l < half; ++l) {
        low.push_back(l);
        high.push_back(half + l);
      }
      Values a, b;
      for (size_t k = 0; k < arity(); ++k) {
        a.push_back(take(values[k], element_of(k), width, low));
        b.push_back(take(values[k], element_of(k), width, high));
      }
      values = combine(a, b, half);
      width = half;
    }
    return values;
  }

  V take(const V& value, const std::string& element, int width, const std::vector<int64_t>& lanes) {
    V type = vector_type(element, width);
    if (lanes.size() == 1)
      return e_.text.let(fmt::format("extractelement {} {}, i32 {}", type, value, lanes[0]));
    return e_.text.let(fmt::format("shufflevector {0} {1}, {0} poison, {2} {3}", type, value,
                                   vector_type("i32", static_cast<int>(lanes.size())),
                                   vector_constant("i32", lanes)));
  }

  void give(const Values& values, const Index& result_index) {
    for (size_t k = 0; k < arity(); ++k) {
      ValueId result = op_.results[k];
      if (e_.type(result).is_scalar()) {
        e_.set_scalar(result, values[k]);
      } else if (e_.plan().is_buffer(result)) {
        Lanes lanes =
            result_index.width == 1 ? Lanes::uniform(values[k]) : Lanes::of_vector(values[k]);
        e_.write_buffer(e_.buffer_address(e_.plan().buffer[result.index]), e_.type(result),
                        result_index, lanes);
      }
    }
  }

  Index with_axis(const Index& result_index, DimIndex along) const {
    Index index = result_index;
    index.dims.insert(index.dims.begin() + static_cast<std::ptrdiff_t>(axis_), std::move(along));
    return index;
  }

  void fold_rows() {
    // Two registers' worth of lanes hide the latency of the combining op.
    int64_t extent = shape_[axis_];
    int width = has_branches() ? 1 : static_cast<int>(std::min<int64_t>(2 * kChunk, extent));
    e_.for_chunks(e_.type(op_.results[0]).shape, 1, [&](const Index& row) {
      auto at = [&](const I64& base) {
        DimIndex along{base, {}};
        if (width > 1)
          for (int l = 0; l < width; ++l) along.offsets.push_back(l);
        Index index = with_axis(row, along);
        index.width = width;
        return evaluate(index);
      };
      Values partial = fold(at({}), extent, width, width, at);
      give(fold_lanes(partial, width), row);
    });
  }

  void fold_columns() {
    e_.for_chunks(
        e_.type(op_.results[0]).shape, has_branches() ? 1 : kChunk, [&](const Index& columns) {
          auto at = [&](const I64& base) { return evaluate(with_axis(columns, {base, {}})); };
          give(fold(at({}), shape_[axis_], 1, columns.width, at), columns);
        });
  }

  const ir::Shape& shape_;
  size_t axis_;
};

}  // namespace

void emit_Reduce(Emitter& e, const OpNode& op) {
  bool used = false;
  for (ValueId result : op.results)
    used |= e.type(result).is_scalar() || e.plan().is_buffer(result);
  if (used) ReduceEmitter(e, op).run();
}

}  // namespace tilewright::cpu
