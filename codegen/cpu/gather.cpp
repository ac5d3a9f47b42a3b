// gather and histogram: one lane after the other, as each has a place of its own. The source of a
// gather has a buffer (plan_cost.cpp).
#include <fmt/format.h>

#include "codegen/cpu/emitter.h"

namespace tilewright::cpu {

using ir::OpNode;
using ir::ValueId;

namespace {

using V = std::string;

// Lane `lane` of integers as an i64, negative ones as huge numbers.
V number(Emitter& e, const V& lanes, const ir::Type& type, int width, int lane) {
  std::string element = register_type(type);
  V one = e.lane_of(lanes, vector_type(element, width), lane);
  if (dtype_bits(type.dtype) == 64) return one;
  return e.text.let(
      fmt::format("{} {} {} to i64", is_signed(type.dtype) ? "sext" : "zext", element, one));
}

V below(Emitter& e, const V& number, int64_t bound) {
  return e.text.let(fmt::format("icmp ult i64 {}, {}", number, bound));
}
// `number` where it counts, else 0.
V place(Emitter& e, const V& counts, const V& number) {
  return e.text.let(fmt::format("select i1 {}, i64 {}, i64 0", counts, number));
}

}  // namespace

void emit_Gather(Emitter& e, const OpNode& op) {
  ValueId src = op.operands[0], result = op.results[0];
  if (!e.plan().is_buffer(result)) return;
  const ir::Type &from = e.type(src), &numbers = e.type(op.operands[1]), &type = e.type(result);
  const auto axis = static_cast<size_t>(op.attrs.get_int("axis"));
  const std::string source = e.buffer_address(e.plan().buffer[src.index]);
  const std::string element = register_type(type);
  e.for_chunks(type.shape, kChunk, [&](const Index& index) {
    const int width = index.width;
    V picked = e.vector(e.lanes(op.operands[1], index), numbers.element(), width), out = "poison";
    for (int lane = 0; lane < width; ++lane) {
      V at = number(e, picked, numbers, width, lane);
      V exists = below(e, at, from.shape[axis]);
      Index one;
      for (const DimIndex& dim : index.dims)
        one.dims.push_back({e.add(dim.base, {dim.offset(static_cast<size_t>(lane)), {}}), {}});
      one.dims[axis] = {{0, place(e, exists, at)}, {}};
      V value = e.vector(e.read_buffer(source, from, one), type.element(), 1);
      std::string zero = element == "float" || element == "double" ? "0.0" : "0";
      value = e.text.let(
          fmt::format("select i1 {}, {} {}, {} {}", exists, element, value, element, zero));
      out = width == 1
                ? value
                : e.text.let(fmt::format("insertelement {} {}, {} {}, i32 {}",
                                         vector_type(element, width), out, element, value, lane));
    }
    e.write_buffer(e.buffer_address(e.plan().buffer[result.index]), type, index,
                   width == 1 ? Lanes::uniform(out) : Lanes::of_vector(out));
  });
}

void emit_Histogram(Emitter& e, const OpNode& op) {
  ValueId result = op.results[0];
  if (!e.plan().is_buffer(result)) return;
  const ir::Type &numbers = e.type(op.operands[0]), &type = e.type(result);
  const std::string counters = e.buffer_address(e.plan().buffer[result.index]);
  e.for_chunks(type.shape, kChunk, [&](const Index& index) {
    e.write_buffer(counters, type, index, Lanes::uniform("0"));
  });
  e.for_chunks(numbers.shape, kChunk, [&](const Index& index) {
    const int width = index.width;
    const ir::Type boolean = ir::Type::scalar(Dtype::kI1);
    V values = e.vector(e.lanes(op.operands[0], index), numbers.element(), width), mask;
    if (op.operands.size() > 1) mask = e.vector(e.lanes(op.operands[1], index), boolean, width);
    for (int lane = 0; lane < width; ++lane) {
      V bin = number(e, values, numbers, width, lane);
      V counts = below(e, bin, type.shape[0]);
      if (!mask.empty())
        counts = e.text.let(
            fmt::format("and i1 {}, {}", counts, e.lane_of(mask, vector_type("i1", width), lane)));
      Index one;
      one.dims.push_back({{0, place(e, counts, bin)}, {}});
      V old = e.vector(e.read_buffer(counters, type, one), type.element(), 1);
      V more = e.text.let(fmt::format("zext i1 {} to i32", counts));
      e.write_buffer(counters, type, one,
                     Lanes::uniform(e.text.let(fmt::format("add i32 {}, {}", old, more))));
    }
  });
}

}  // namespace tilewright::cpu
