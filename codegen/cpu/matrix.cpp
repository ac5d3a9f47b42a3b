// dot: acc + a @ b.
//
// Operands are evaluated once into packed copies of the type in which the sum is computed: a row by
// row, b in panels of as many columns as the register block has, so that the inner loop reads both
// from consecutive memory. The inner loop keeps a block of accumulators in registers over all of K
// (DotBlocking); acc is evaluated, and the result written, block by block.
#include <fmt/format.h>

#include "codegen/cpu/calc.h"
#include "codegen/cpu/emitter.h"

namespace tilewright::cpu {

using ir::OpNode;

namespace {

using V = std::string;

class DotEmitter {
 public:
  DotEmitter(Emitter& e, const OpNode& op)
      : e_(e),
        op_(op),
        b_(dot_blocking(e.module, op, e.vector_bytes)),
        compute_(ir::Type::scalar(b_.compute)),
        element_(register_type(compute_)) {
    ir::OpId id = e.module.value(op.results[0]).def;
    int64_t scratch = e.plan().scratch[id.index];
    packed_a_ = e.buffer_address(scratch);
    packed_b_ = e.buffer_address(scratch + align_up(b_.a_bytes()));
    result_ = e.buffer_address(e.plan().buffer[op.results[0].index]);
  }

  void run() {
    Emitter::Loop batch = e_.begin_loop(b_.batch, 1);
    batch_ = batch.index;
    pack_a();
    pack_b();
    Emitter::Loop panel = e_.begin_loop(b_.n, b_.cols);
    Emitter::Loop rows = e_.begin_loop(b_.m, b_.rows);
    block(rows.index, panel.index);
    e_.end_loop(rows);
    e_.end_loop(panel);
    e_.end_loop(batch);
  }

 private:
  // The index of a matrix in an operand, which may have batch dimensions in front.
  Index in_operand(ir::ValueId operand, const Index& matrix) {
    Index index = matrix;
    const ir::Shape& shape = e_.type(operand).shape;
    size_t batches = shape.size() - 2;
    std::vector<DimIndex> front(batches);
    int64_t stride = 1;
    for (size_t d = batches; d-- > 0;) {
      front[d].base = e_.low_bits(e_.shift_right(batch_, stride), shape[d]);
      stride *= shape[d];
    }
    index.dims.insert(index.dims.begin(), front.begin(), front.end());
    return index;
  }

  // Lanes of an operand or of acc in the computing type.
  V in_compute_type(ir::ValueId operand, const Index& matrix, bool is_factor) {
    ir::Type type = e_.type(operand).element();
    int width = matrix.width;
    V value = e_.vector(e_.lanes(operand, in_operand(operand, matrix)), type, width);
    Calc bits(e_, register_type(type), width);
    V wide = cast_lanes(bits, value, type, compute_, false);
    bool tf32 =
        is_factor && type.dtype == Dtype::kF32 && op_.attrs.get_word("precision", "tf32") == "tf32";
    return tf32 ? round_tf32(Calc(e_, "float", width), wide) : wide;
  }

  // Stores a chunk of a matrix whose elements (i, j) lie at start + i * row + j.
  void store_packed(const V& base, const I64& start, int64_t row, const Index& index,
                    const V& value) {
    I64 position = e_.add(start, e_.add(e_.multiply(index.dims[0].base, row), index.dims[1].base));
    V address = e_.text.let(
        fmt::format("getelementptr inbounds {}, ptr {}, i64 {}", element_, base, position.text()));
    V type = vector_type(element_, index.width);
    bool is_row = index.dims[0].offsets.empty();
    if (is_row) {
      e_.text.line(fmt::format("store {} {}, ptr {}, align {}{}", type, value, address,
                               index.width * compute_.element_bytes(), e_.buffer_scope()));
      return;
    }
    for (int l = 0; l < index.width; ++l) {
      auto lane = static_cast<size_t>(l);
      int64_t offset = index.dims[0].offset(lane) * row + index.dims[1].offset(lane);
      V to = e_.text.let(
          fmt::format("getelementptr inbounds {}, ptr {}, i64 {}", element_, address, offset));
      e_.text.line(fmt::format("store {} {}, ptr {}, align {}{}", element_,
                               e_.lane_of(value, type, l), to, compute_.element_bytes(),
                               e_.buffer_scope()));
    }
  }

  // Lanes run along that dimension of the matrix that is contiguous in the kernel's memory.
  int lane_dim(ir::ValueId operand) const {
    int dim = e_.lane_dim_of(operand) - (e_.type(operand).rank() - 2);
    return dim >= 0 ? dim : kInnermost;
  }

  void pack_a() {
    auto pack = [&](const Index& index) {
      store_packed(packed_a_, {}, b_.k, index, in_compute_type(op_.operands[0], index, true));
    };
    e_.for_chunks({b_.m, b_.k}, kChunk, pack, lane_dim(op_.operands[0]));
  }

  // Element (k, n) goes to panel n / cols, row k, column n % cols.
  void pack_b() {
    Emitter::Loop panel = e_.begin_loop(b_.n, b_.cols);
    auto pack = [&](const Index& index) {
      Index global = index;
      global.dims[1].base = e_.add(panel.index, index.dims[1].base);
      V value = in_compute_type(op_.operands[1], global, true);
      store_packed(packed_b_, e_.multiply(panel.index, b_.k), b_.cols, index, value);
    };
    e_.for_chunks({b_.k, b_.cols}, kChunk, pack, lane_dim(op_.operands[1]));
    e_.end_loop(panel);
  }

  // Where lanes [first, first + lanes) of a row of the block are.
  Index in_block(const I64& row, const I64& column) {
    Index index;
    index.width = b_.lanes;
    index.dims.resize(2);
    index.dims[0].base = row;
    index.dims[1].base = column;
    if (b_.lanes > 1)
      for (int l = 0; l < b_.lanes; ++l) index.dims[1].offsets.push_back(l);
    return index;
  }

  V multiply_add(const V& a, const V& b, const V& sum) {
    Calc c(e_, element_, b_.lanes);
    if (is_float(b_.compute)) return c.fma(a, b, sum);
    return c.add(c.mul(a, b), sum);
  }

  V load_packed(const V& base, const I64& position, int width) {
    V address = e_.text.let(
        fmt::format("getelementptr inbounds {}, ptr {}, i64 {}", element_, base, position.text()));
    return e_.text.let(fmt::format("load {}, ptr {}, align {}{}", vector_type(element_, width),
                                   address, width * compute_.element_bytes(), e_.buffer_scope()));
  }

  // One step along K of all accumulators.
  void step(const I64& row, const I64& panel, const I64& k, std::vector<V>& sums) {
    int vectors = b_.cols / b_.lanes;
    I64 b_row = e_.add(e_.multiply(panel, b_.k), e_.multiply(k, b_.cols));
    std::vector<V> right;
    for (int v = 0; v < vectors; ++v)
      right.push_back(load_packed(packed_b_, e_.add(b_row, {v * b_.lanes, {}}), b_.lanes));
    I64 a_start = e_.add(e_.multiply(row, b_.k), k);
    for (int r = 0; r < b_.rows; ++r) {
      V one = load_packed(packed_a_, e_.add(a_start, {r * b_.k, {}}), 1);
      V left = e_.splat(one, element_, b_.lanes);
      for (int v = 0; v < vectors; ++v) {
        V& sum = sums[static_cast<size_t>(r * vectors + v)];
        sum = multiply_add(left, right[static_cast<size_t>(v)], sum);
      }
    }
  }

  void block(const I64& row, const I64& panel) {
    std::vector<Index> places;
    for (int r = 0; r < b_.rows; ++r)
      for (int v = 0; v < b_.cols / b_.lanes; ++v)
        places.push_back(in_block(e_.add(row, {r, {}}), e_.add(panel, {v * b_.lanes, {}})));
    std::vector<V> sums;
    for (const Index& place : places)
      sums.push_back(in_compute_type(op_.operands[2], place, false));
    sum_over_k(row, panel, sums);
    ir::Type type = e_.type(op_.results[0]);
    for (size_t i = 0; i < places.size(); ++i) {
      Calc c(e_, element_, b_.lanes);
      V value = cast_lanes(c, sums[i], compute_, type.element(), false);
      Lanes lanes = b_.lanes == 1 ? Lanes::uniform(value) : Lanes::of_vector(value);
      e_.write_buffer(result_, type, in_operand(op_.results[0], places[i]), lanes);
    }
  }

  void sum_over_k(const I64& row, const I64& panel, std::vector<V>& sums) {
    if (b_.unroll == b_.k) {
      for (int k = 0; k < b_.k; ++k) step(row, panel, {k, {}}, sums);
      return;
    }
    V before = e_.text.current_block(), vector = vector_type(element_, b_.lanes);
    Emitter::Loop loop = e_.begin_loop(b_.k, b_.unroll);
    std::vector<V> carried, next;
    for (const V& sum : sums) {
      carried.push_back(e_.text.fresh());
      next.push_back(e_.text.fresh());
      e_.text.let_as(carried.back(), fmt::format("phi {} [ {}, %{} ], [ {}, %{} ]", vector, sum,
                                                 before, next.back(), loop.latch));
    }
    std::vector<V> running = carried;
    for (int u = 0; u < b_.unroll; ++u) step(row, panel, e_.add(loop.index, {u, {}}), running);
    // The names that the phis wait for.
    for (size_t i = 0; i < running.size(); ++i)
      e_.text.let_as(next[i], fmt::format("freeze {} {}", vector, running[i]));
    e_.end_loop(loop);
    sums = next;
  }

  Emitter& e_;
  const OpNode& op_;
  DotBlocking b_;
  ir::Type compute_;
  V element_, packed_a_, packed_b_, result_;
  I64 batch_;
};

}  // namespace

void emit_Dot(Emitter& e, const OpNode& op) {
  if (e.plan().is_buffer(op.results[0])) DotEmitter(e, op).run();
}

}  // namespace tilewright::cpu
