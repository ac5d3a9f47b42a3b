// Loads and stores of the kernel's memory. Masked-off elements are never touched.
//
// An access is contiguous when its lanes follow one another in memory. That is known at compile
// time for affine addresses; others are tested where they are used, because `% n` and run-time
// strides of 1 are common, and fall back to gathers and scatters.
#include <fmt/format.h>

#include <algorithm>

#include "codegen/cpu/calc.h"
#include "codegen/cpu/emitter.h"

namespace tilewright::cpu {

using ir::OpNode;

namespace {

using V = std::string;

enum class Pattern { kUniform, kContiguous, kUnknown, kScattered };

// One load or store of a chunk.
struct Access {
  Emitter& e;
  ir::Type element;  // the pointee
  int width;
  Lanes pointers;
  V mask;  // i1 if mask_is_uniform, else lanes; empty for all
  bool mask_is_uniform = true;

  V memory() const { return memory_type(element); }
  V lanes_type() const { return vector_type(memory(), width); }
  V mask_type() const { return vector_type("i1", width); }
  // As lanes of i1, whatever it is.
  V full_mask() const {
    if (mask.empty()) return splat_constant("i1", "true", width);
    return mask_is_uniform ? e.splat(mask, "i1", width) : mask;
  }
  V pointer_vector() const { return e.vector(pointers, ir::Type::pointer(element.dtype), width); }
};

Pattern pattern_of(const Access& a) {
  if (a.pointers.is_uniform()) return Pattern::kUniform;
  if (!a.pointers.is_affine()) return Pattern::kUnknown;
  const auto& offsets = a.pointers.offsets;
  if (std::all_of(offsets.begin(), offsets.end(), [](int64_t o) { return o == 0; }))
    return Pattern::kUniform;
  for (size_t l = 0; l < offsets.size(); ++l)
    if (offsets[l] != static_cast<int64_t>(l) * a.element.element_bytes())
      return Pattern::kScattered;
  return Pattern::kContiguous;
}

Access make_access(Emitter& e, const OpNode& op, size_t mask_operand, const Index& index) {
  const ir::Type& pointer = e.type(op.operands[0]);
  Access a{e,   ir::Type::scalar(pointer.dtype), index.width, e.lanes(op.operands[0], index), {},
           true};
  if (op.operands.size() <= mask_operand) return a;
  Lanes mask = e.lanes(op.operands[mask_operand], index);
  a.mask_is_uniform = mask.is_uniform();
  a.mask = mask.is_uniform() ? mask.scalar : e.vector(mask, ir::Type::scalar(Dtype::kI1), a.width);
  if (a.mask == "true") a.mask.clear();
  return a;
}

V any_lane(Emitter& e, const V& mask, int width) {
  V function = "@llvm.vector.reduce.or." + intrinsic_suffix("i1", width);
  V type = vector_type("i1", width);
  e.declare(fmt::format("declare i1 {}({})", function, type));
  return e.text.let(fmt::format("call i1 {}({} {})", function, type, mask));
}

// Whether the lanes of an access with unknown pattern follow one another.
V test_contiguous(const Access& a, const V& pointers) {
  Emitter& e = a.e;
  std::vector<int64_t> offsets;
  for (int l = 0; l < a.width; ++l) offsets.push_back(l * a.element.element_bytes());
  V type = vector_type("ptr", a.width);
  V first = e.lane_of(pointers, type, 0);
  V expected =
      e.text.let(fmt::format("getelementptr i8, ptr {}, {} {}", first, vector_type("i64", a.width),
                             vector_constant("i64", offsets)));
  V equal = e.text.let(fmt::format("icmp eq {} {}, {}", type, pointers, expected));
  V function = "@llvm.vector.reduce.and." + intrinsic_suffix("i1", a.width);
  e.declare(fmt::format("declare i1 {}({})", function, a.mask_type()));
  return e.text.let(fmt::format("call i1 {}({} {})", function, a.mask_type(), equal));
}

// condition ? then() : other, with `then` not run otherwise.
template <class Then>
V guarded(Emitter& e, const V& condition, const V& type, const V& other, Then then) {
  V yes = e.text.fresh_label("access"), done = e.text.fresh_label("after");
  V before = e.text.current_block();
  e.text.branch_if(condition, yes, done);
  e.text.start_block(yes);
  V value = then();
  V from = e.text.current_block();
  e.text.branch(done);
  e.text.start_block(done);
  if (type.empty()) return {};
  return e.text.let(
      fmt::format("phi {} [ {}, %{} ], [ {}, %{} ]", type, other, before, value, from));
}

template <class Yes, class No>
V either(Emitter& e, const V& condition, const V& type, Yes yes_path, No no_path) {
  V yes = e.text.fresh_label("run"), no = e.text.fresh_label("spread");
  V done = e.text.fresh_label("after");
  e.text.branch_if(condition, yes, no);
  e.text.start_block(yes);
  V a = yes_path();
  V a_from = e.text.current_block();
  e.text.branch(done);
  e.text.start_block(no);
  V b = no_path();
  V b_from = e.text.current_block();
  e.text.branch(done);
  e.text.start_block(done);
  if (type.empty()) return {};
  return e.text.let(fmt::format("phi {} [ {}, %{} ], [ {}, %{} ]", type, a, a_from, b, b_from));
}

// ---- loads: `other` and the results are memory images ----

V load_one(const Access& a, const V& pointer, bool is_volatile) {
  return a.e.text.let(fmt::format("load {}{}, ptr {}, align {}{}", is_volatile ? "volatile " : "",
                                  a.memory(), pointer, a.element.element_bytes(),
                                  a.e.user_scope()));
}

V load_contiguous(const Access& a, const V& pointer, const V& other) {
  Emitter& e = a.e;
  int align = a.element.element_bytes();
  if (a.mask.empty())
    return e.text.let(
        fmt::format("load {}, ptr {}, align {}{}", a.lanes_type(), pointer, align, e.user_scope()));
  V suffix = intrinsic_suffix(a.memory(), a.width);
  e.declare(fmt::format("declare {0} @llvm.masked.load.{1}.p0(ptr, i32, {2}, {0})", a.lanes_type(),
                        suffix, a.mask_type()));
  return e.text.let(fmt::format(
      "call {0} @llvm.masked.load.{1}.p0(ptr {2}, i32 {3}, {4} {5}, {0} {6}){7}", a.lanes_type(),
      suffix, pointer, align, a.mask_type(), a.full_mask(), other, e.user_scope()));
}

V load_scattered(const Access& a, const V& pointers, const V& other) {
  Emitter& e = a.e;
  V suffix = intrinsic_suffix(a.memory(), a.width), pointers_type = vector_type("ptr", a.width);
  V name = fmt::format("@llvm.masked.gather.{}.{}", suffix, intrinsic_suffix("ptr", a.width));
  e.declare(fmt::format("declare {0} {1}({2}, i32, {3}, {0})", a.lanes_type(), name, pointers_type,
                        a.mask_type()));
  return e.text.let(fmt::format(
      "call {0} {1}({2} {3}, i32 {4}, {5} {6}, {0} {7}){8}", a.lanes_type(), name, pointers_type,
      pointers, a.element.element_bytes(), a.mask_type(), a.full_mask(), other, e.user_scope()));
}

V load_vector(const Access& a, const V& other) {
  Pattern pattern = pattern_of(a);
  if (pattern == Pattern::kContiguous) return load_contiguous(a, a.pointers.scalar, other);
  V pointers = a.pointer_vector();
  if (pattern == Pattern::kScattered) return load_scattered(a, pointers, other);
  return either(
      a.e, test_contiguous(a, pointers), a.lanes_type(),
      [&] {
        V first = a.e.lane_of(pointers, vector_type("ptr", a.width), 0);
        return load_contiguous(a, first, other);
      },
      [&] { return load_scattered(a, pointers, other); });
}

// ---- stores ----

void store_contiguous(const Access& a, const V& pointer, const V& value) {
  Emitter& e = a.e;
  int align = a.element.element_bytes();
  if (a.mask.empty()) {
    e.text.line(fmt::format("store {} {}, ptr {}, align {}{}", a.lanes_type(), value, pointer,
                            align, e.user_scope()));
    return;
  }
  V suffix = intrinsic_suffix(a.memory(), a.width);
  e.declare(fmt::format("declare void @llvm.masked.store.{}.p0({}, ptr, i32, {})", suffix,
                        a.lanes_type(), a.mask_type()));
  e.text.line(fmt::format("call void @llvm.masked.store.{}.p0({} {}, ptr {}, i32 {}, {} {}){}",
                          suffix, a.lanes_type(), value, pointer, align, a.mask_type(),
                          a.full_mask(), e.user_scope()));
}

void store_scattered(const Access& a, const V& pointers, const V& value) {
  Emitter& e = a.e;
  V suffix = intrinsic_suffix(a.memory(), a.width), pointers_type = vector_type("ptr", a.width);
  V name = fmt::format("@llvm.masked.scatter.{}.{}", suffix, intrinsic_suffix("ptr", a.width));
  e.declare(fmt::format("declare void {}({}, {}, i32, {})", name, a.lanes_type(), pointers_type,
                        a.mask_type()));
  e.text.line(fmt::format("call void {}({} {}, {} {}, i32 {}, {} {}){}", name, a.lanes_type(),
                          value, pointers_type, pointers, a.element.element_bytes(), a.mask_type(),
                          a.full_mask(), e.user_scope()));
}

void store_vector(const Access& a, const V& value) {
  Pattern pattern = pattern_of(a);
  if (pattern == Pattern::kContiguous) return store_contiguous(a, a.pointers.scalar, value);
  V pointers = a.pointer_vector();
  if (pattern != Pattern::kUnknown) return store_scattered(a, pointers, value);
  either(
      a.e, test_contiguous(a, pointers), {},
      [&] {
        store_contiguous(a, a.e.lane_of(pointers, vector_type("ptr", a.width), 0), value);
        return V();
      },
      [&] {
        store_scattered(a, pointers, value);
        return V();
      });
}

bool is_boolean(const Access& a) {
  return a.element.dtype == Dtype::kI1;
}

V image(const Access& a, const V& value, int width) {
  return is_boolean(a) ? Calc(a.e, "i1", width).convert("zext", value, "i8") : value;
}

// i1 reads as byte != 0.
V from_image(const Access& a, const V& value, int width) {
  Calc bytes(a.e, "i8", width);
  return is_boolean(a) ? bytes.icmp("ne", value, bytes.ci(0)) : value;
}

V zero_of(const Access& a, int width) {
  V type = a.memory();
  return splat_constant(type, type[0] == 'i' ? "0" : "0.0", width);
}

}  // namespace

Lanes Emitter::load_lanes(const OpNode& op, const Index& index) {
  Access a = make_access(*this, op, 1, index);
  bool has_other = op.operands.size() > 2 && !a.mask.empty();
  bool is_volatile = op.attrs.get_int("volatile") != 0;
  Lanes other = has_other ? lanes(op.operands[2], index) : Lanes();
  auto other_at = [&](int width) {
    if (!has_other) return zero_of(a, width);
    V value = width == 1 ? other.scalar : vector(other, a.element, width);
    return image(a, value, width);
  };
  bool one_address = pattern_of(a) == Pattern::kUniform;
  if (one_address && a.mask_is_uniform && (!has_other || other.is_uniform())) {
    V value;
    if (a.mask.empty())
      value = load_one(a, a.pointers.scalar, is_volatile);
    else
      value = guarded(*this, a.mask, a.memory(), other_at(1),
                      [&] { return load_one(a, a.pointers.scalar, is_volatile); });
    return Lanes::uniform(from_image(a, value, 1));
  }
  V rest = other_at(a.width);
  if (one_address) {  // one element for all lanes that want it
    V wanted = a.full_mask();
    V value = guarded(*this, any_lane(*this, wanted, a.width), a.memory(), zero_of(a, 1),
                      [&] { return load_one(a, a.pointers.scalar, is_volatile); });
    V all = splat(value, a.memory(), a.width);
    Calc c(*this, a.memory(), a.width);
    return Lanes::of_vector(from_image(a, c.select(wanted, all, rest), a.width));
  }
  V value;
  if (!a.mask.empty() && a.mask_is_uniform) {
    V mask = a.mask;
    a.mask.clear();
    value = guarded(*this, mask, a.lanes_type(), rest, [&] { return load_vector(a, rest); });
  } else {
    value = load_vector(a, rest);
  }
  return Lanes::of_vector(from_image(a, value, a.width));
}

namespace {

void load_into_buffer(Emitter& e, const OpNode& op) {
  ir::ValueId result = op.results[0];
  std::string buffer = e.buffer_address(e.plan().buffer[result.index]);
  int width = op.attrs.get_int("volatile") != 0 ? 1 : kChunk;
  auto load = [&](const Index& index) {
    e.write_buffer(buffer, e.type(result), index, e.lanes_of_definition(result, index));
  };
  e.for_chunks(e.type(result).shape, width, load, e.lane_dim_of_pointers(op.operands[0]));
}

void store_chunks(Emitter& e, const OpNode& op) {
  auto store_chunk = [&](const Index& index) {
    Access a = make_access(e, op, 2, index);
    Lanes value = e.lanes(op.operands[1], index);
    V exact = image(a, e.vector(value, a.element, a.width), a.width);
    auto store = [&] {
      if (a.width == 1)
        e.text.line(fmt::format("store {} {}, ptr {}, align {}{}", a.memory(), exact,
                                a.pointers.scalar, a.element.element_bytes(), e.user_scope()));
      else
        store_vector(a, exact);
      return V();
    };
    if (a.mask.empty() || !a.mask_is_uniform) {
      store();
      return;
    }
    V mask = a.mask;
    a.mask.clear();
    guarded(e, mask, {}, {}, store);
  };
  e.for_chunks(e.type(op.operands[0]).shape, kChunk, store_chunk,
               e.lane_dim_of_pointers(op.operands[0]));
}

// Where a tile of pointers that is one run begins, as i64.
V start_of_run(Emitter& e, ir::ValueId pointers) {
  V start;
  Index first;
  first.dims.resize(e.type(pointers).shape.size());
  e.with_fresh_values([&] { start = e.lanes(pointers, first).scalar; });
  return e.text.let(fmt::format("ptrtoint ptr {} to i64", start));
}

// Whether a load may be done chunk by chunk in the loop of a store: both are runs; they are apart,
// or the same elements, each of which is read before it is written.
V may_interleave(Emitter& e, const V& store_start, ir::ValueId store_pointers, ir::ValueId loaded) {
  ir::ValueId pointers = e.module.def(loaded)->operands[0];
  V start = start_of_run(e, pointers);
  int64_t bytes = dtype_bytes(e.type(pointers).dtype);
  int64_t store_bytes = dtype_bytes(e.type(store_pointers).dtype);
  int64_t count = e.type(pointers).element_count();
  int64_t store_count = e.type(store_pointers).element_count();
  Calc c(e, "i64", 1), flag(e, "i1", 1);
  V ends_before = c.icmp("ule", c.add(start, c.ci(bytes * count)), store_start);
  V begins_after = c.icmp("uge", start, c.add(store_start, c.ci(store_bytes * store_count)));
  V apart = flag.or_(ends_before, begins_after);
  if (bytes != store_bytes || count != store_count) return apart;
  return flag.or_(apart, c.icmp("eq", start, store_start));
}

}  // namespace

void emit_Load(Emitter& e, const OpNode& op) {
  ir::ValueId result = op.results[0];
  if (e.type(result).is_scalar())
    e.set_scalar(result, e.load_lanes(op, Index{}).scalar);
  else if (e.plan().is_buffer(result) && !e.plan().is_deferred[result.index])
    load_into_buffer(e, op);
}

void emit_Store(Emitter& e, const OpNode& op) {
  const std::vector<ir::ValueId> deferred = e.plan().deferred[e.id_of(op).index];
  if (deferred.empty()) {
    store_chunks(e, op);
    return;
  }
  V start = start_of_run(e, op.operands[0]), fuse = "true";
  for (ir::ValueId loaded : deferred)
    fuse = Calc(e, "i1", 1).and_(fuse, may_interleave(e, start, op.operands[0], loaded));
  either(
      e, fuse, {},
      [&] {
        for (ir::ValueId loaded : deferred) e.set_lazy(loaded, true);
        store_chunks(e, op);
        return V();
      },
      [&] {
        for (ir::ValueId loaded : deferred) e.set_lazy(loaded, false);
        for (ir::ValueId loaded : deferred) load_into_buffer(e, *e.module.def(loaded));
        store_chunks(e, op);
        return V();
      });
}

}  // namespace tilewright::cpu
