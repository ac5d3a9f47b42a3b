// Atomics, one element at a time. What LLVM has no instruction for (floats other than add of f32
// and f64, and order of floats) is a compare-and-swap loop on the bits.
#include <fmt/format.h>

#include "codegen/cpu/calc.h"
#include "codegen/cpu/emitter.h"
#include "dsl/base/check.h"

namespace tilewright::cpu {

using ir::OpNode;
using ir::ValueId;

namespace {

using V = std::string;

struct Orders {
  V rmw, failure;
};
Orders orders_of(const OpNode& op) {
  std::string_view sem = op.attrs.get_word("sem", "acq_rel");
  if (sem == "relaxed") return {"monotonic", "monotonic"};
  if (sem == "acquire") return {"acquire", "acquire"};
  if (sem == "release") return {"release", "monotonic"};
  return {"acq_rel", "acquire"};
}

V image_of(Dtype dtype) {
  return "i" + std::to_string(8 * dtype_bytes(dtype));
}

V to_image(Emitter& e, const V& value, Dtype dtype) {
  V element = register_type(ir::Type::scalar(dtype)), image = image_of(dtype);
  if (dtype == Dtype::kI1) return Calc(e, "i1", 1).convert("zext", value, image);
  return element == image ? value : Calc(e, element, 1).bitcast(value, image);
}

V from_image(Emitter& e, const V& value, Dtype dtype) {
  V element = register_type(ir::Type::scalar(dtype)), image = image_of(dtype);
  if (dtype == Dtype::kI1) return Calc(e, image, 1).icmp("ne", value, "0");
  return element == image ? value : Calc(e, image, 1).bitcast(value, element);
}

// Float images as signed integers in the order -NaN < -inf < … < -0 < +0 < … < NaN, which is what
// integer atomics on the image amount to.
V ordered(Emitter& e, const V& image, Dtype dtype) {
  Calc c(e, image_of(dtype), 1);
  int bits = dtype_bits(dtype);
  V sign = c.ashr(image, bits - 1);
  return c.xor_(image, c.lshr(sign, 1));
}

// The new value of a compare-and-swap loop.
V combined(Emitter& e, std::string_view what, Dtype dtype, const V& old_image,
           const V& value_image) {
  Calc c(e, image_of(dtype), 1);
  if (what == "add")
    return to_image(
        e,
        add_lanes(e, dtype, 1, from_image(e, old_image, dtype), from_image(e, value_image, dtype)),
        dtype);
  TW_CHECK(what == "max" || what == "min", "no such atomic on floats");
  V a = ordered(e, old_image, dtype), b = ordered(e, value_image, dtype);
  V takes_value = what == "max" ? c.icmp("slt", a, b) : c.icmp("slt", b, a);
  return c.select(takes_value, value_image, old_image);
}

V swap_loop(Emitter& e, const OpNode& op, std::string_view what, Dtype dtype, const V& pointer,
            const V& value_image) {
  V image = image_of(dtype);
  Orders orders = orders_of(op);
  V first = e.text.let(fmt::format("load atomic {}, ptr {} monotonic, align {}", image, pointer,
                                   dtype_bytes(dtype)));
  V loop = e.text.fresh_label("retry"), done = e.text.fresh_label("swapped");
  V before = e.text.current_block(), old = e.text.fresh(), seen = e.text.fresh();
  e.text.branch(loop);
  e.text.start_block(loop);
  e.text.let_as(old,
                fmt::format("phi {} [ {}, %{} ], [ {}, %{} ]", image, first, before, seen, loop));
  V next = combined(e, what, dtype, old, value_image);
  V pair = e.text.let(fmt::format("cmpxchg ptr {}, {} {}, {} {} {} {}", pointer, image, old, image,
                                  next, orders.rmw, orders.failure));
  e.text.let_as(seen, fmt::format("extractvalue {{ {}, i1 }} {}, 0", image, pair));
  V stored = e.text.let(fmt::format("extractvalue {{ {}, i1 }} {}, 1", image, pair));
  e.text.branch_if(stored, done, loop);
  e.text.start_block(done);
  return old;
}

// The old value's register image.
V rmw(Emitter& e, const OpNode& op, const V& pointer, const V& value) {
  Dtype dtype = e.type(op.operands[0]).dtype;
  std::string what(op.attrs.get_word("op"));
  if (is_float(dtype) && what != "xchg") {
    V old = swap_loop(e, op, what, dtype, pointer, to_image(e, value, dtype));
    return from_image(e, old, dtype);
  }
  if ((what == "max" || what == "min") && !is_signed(dtype)) what = "u" + what;
  V image = image_of(dtype);
  V old = e.text.let(fmt::format("atomicrmw {} ptr {}, {} {} {}", what, pointer, image,
                                 to_image(e, value, dtype), orders_of(op).rmw));
  return from_image(e, old, dtype);
}

V compare_and_swap(Emitter& e, const OpNode& op, const V& pointer, const V& expected,
                   const V& value) {
  Dtype dtype = e.type(op.operands[0]).dtype;
  V image = image_of(dtype);
  Orders orders = orders_of(op);
  V expected_image = to_image(e, expected, dtype), value_image = to_image(e, value, dtype);
  V pair = e.text.let(fmt::format("cmpxchg ptr {}, {} {}, {} {} {} {}", pointer, image,
                                  expected_image, image, value_image, orders.rmw, orders.failure));
  return from_image(e, e.text.let(fmt::format("extractvalue {{ {}, i1 }} {}, 0", image, pair)),
                    dtype);
}

// Runs `element` for each element under its mask and keeps the old values; masked-off ones give 0.
template <class Element>
void for_elements(Emitter& e, const OpNode& op, size_t mask_operand, Element element) {
  ValueId result = op.results[0];
  ir::Type type = e.type(result);
  bool keep = type.is_scalar() || e.plan().is_buffer(result);
  V register_text = register_type(type);
  e.for_chunks(type.shape, 1, [&](const Index& index) {
    std::vector<V> operands;
    for (ValueId operand : op.operands) operands.push_back(e.lanes(operand, index).scalar);
    V old;
    if (op.operands.size() > mask_operand) {
      V yes = e.text.fresh_label("access"), done = e.text.fresh_label("after");
      V before = e.text.current_block();
      e.text.branch_if(operands[mask_operand], yes, done);
      e.text.start_block(yes);
      V value = element(operands);
      V from = e.text.current_block();
      e.text.branch(done);
      e.text.start_block(done);
      V zero = register_text[0] == 'i' ? "0" : "0.0";
      old = e.text.let(
          fmt::format("phi {} [ {}, %{} ], [ {}, %{} ]", register_text, zero, before, value, from));
    } else {
      old = element(operands);
    }
    if (type.is_scalar())
      e.set_scalar(result, old);
    else if (keep)
      e.write_buffer(e.buffer_address(e.plan().buffer[result.index]), type, index,
                     Lanes::uniform(old));
  });
}

}  // namespace

void emit_AtomicRmw(Emitter& e, const OpNode& op) {
  for_elements(e, op, 2, [&](const std::vector<V>& x) { return rmw(e, op, x[0], x[1]); });
}

void emit_AtomicCas(Emitter& e, const OpNode& op) {
  for_elements(e, op, 3,
               [&](const std::vector<V>& x) { return compare_and_swap(e, op, x[0], x[1], x[2]); });
}

}  // namespace tilewright::cpu
