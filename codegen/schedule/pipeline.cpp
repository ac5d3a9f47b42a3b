// How a loop is rewritten. Values of another iteration are made by copying the ops behind them,
// into a Frame: a map from values of the loop's body to what they are in that iteration.
//
//   before the loop   frame s is iteration s: the index is lo + s * step, carried values follow by
//                     copies of the body's ops from frame s-1, loads are copied as they are
//   in the body       frame d is d iterations later: the index is %i + d * step, and carried values
//                     and loads are new carried values, which run d iterations ahead
//
// Every new carried value has its initial value from a frame before the loop and its next one from
// a frame of the body. Loads for later iterations ask whether the iteration exists: in a loop
// around dots they stand in an `if`, which keeps their addresses out of the last iterations; copies
// made there are seen there only. In other loops that is part of their masks: a body without
// branches starts its loads first and does not tie what follows to them.
#include "codegen/schedule/pipeline.h"

#include <algorithm>

#include "codegen/schedule/bounds.h"
#include "dsl/base/check.h"

namespace tilewright::schedule {
namespace {

using ir::Op;
using ir::OpId;
using ir::OpNode;
using ir::RegionId;
using ir::Type;
using ir::ValueId;
using How = LoadReport::How;

using Frame = std::map<ValueId, ValueId>;

// The slots of all buffers that have so many of them: which one is read, which one is written.
struct Ring {
  int slots = 0;
  ValueId read, write;
};

struct Buffer {
  OpId load;
  ValueId value;
  int slots = 0;
};

class Pipeline {
 public:
  Pipeline(ir::Module& module, const LoopPlan& plan)
      : m_(module),
        plan_(plan),
        loop_(module, plan.loop),
        b_(module),
        bounds_(loop_, b_),
        before_(module.add_region({})),
        top_(module.add_region({})),
        bottom_(module.add_region({})),
        branches_(
            std::ranges::any_of(loop_.ops, [&](OpId id) { return module.op(id).op == Op::Dot; })) {
    b_.set_span(loop_.node().span);
  }

  int64_t run() {
    for (const PlannedLoad& load : plan_.loads) {
      if (!load.is_needed) continue;
      if (load.how == How::kAsync) async_.push_back(make_buffer(load.op, plan_.stages));
      if (load.how == How::kOnce) once_.push_back(make_buffer(load.op, 1));
      if (load.how == How::kStaged) staged_.push_back(make_buffer(load.op, 2));
      if (load.how == How::kAhead) ahead_.push_back(load.op);
    }
    if (!async_.empty()) make_ring(plan_.stages);
    if (!staged_.empty()) make_ring(2);
    fill_slots();
    begin_body();
    request_all();
    load_ahead();
    finish_body();
    assemble();
    return bytes_;
  }

 private:
  // A carried value that this pass adds.
  struct Added {
    ValueId arg, init, next;
  };

  Buffer make_buffer(OpId load, int slots) {
    b_.set_region(before_);
    Type type = Type::shared(slots, m_.type(m_.op(load).results[0]));
    bytes_ += type.element_count() * type.element_bytes();
    ValueId value = b_.make_as(Op::SharedAlloc, type, {});
    m_.value(value).name = m_.value(m_.op(load).results[0]).name;
    return {load, value, slots};
  }

  ValueId add_carried(const Type& type, std::string name) {
    ValueId arg = m_.add_region_arg(loop_.body, type, std::move(name));
    added_.push_back({arg, {}, {}});
    return arg;
  }
  Added& added(ValueId arg) {
    return *std::ranges::find_if(added_, [&](const Added& a) { return a.arg == arg; });
  }
  ValueId slot(int number) { return b_.constant_int(Type::scalar(Dtype::kI32), number); }

  void make_ring(int slots) {
    if (rings_.contains(slots)) return;
    Ring ring{slots, add_carried(Type::scalar(Dtype::kI32), "read"),
              add_carried(Type::scalar(Dtype::kI32), "write")};
    b_.set_region(before_);
    added(ring.read).init = slot(0);
    added(ring.write).init = slot(slots - 1);
    rings_[slots] = ring;
  }

  // ---- frames ----

  // Finds what a value needs that must stand outside of an `if`: the index, carried values, and in
  // the body loads, which are carried too.
  void prepare(bool in_body, int at, ValueId value) {
    auto& ready = in_body ? body_ready_[at] : before_ready_[at];
    if (!loop_.is_inside(value) || !ready.insert(value).second) return;
    if (value == loop_.iv()) {
      b_.set_region(in_body ? top_ : before_);
      frame(in_body, at)[value] = bounds_.advance(in_body ? value : loop_.lo(), at);
      return;
    }
    if (auto j = loop_.carried_index(value)) {
      ValueId there = in_body ? carried_ahead(*j, at) : carried_before(*j, at);
      frame(in_body, at)[value] = there;
      return;
    }
    OpId def = m_.value(value).def;
    if (in_body && m_.op(def).op == Op::Load) {
      ValueId there = loaded_ahead(def, at);
      frame(in_body, at)[value] = there;
      return;
    }
    for (ValueId operand : std::vector(m_.op(def).operands)) prepare(in_body, at, operand);
  }
  void prepare_operands(bool in_body, int at, OpId op) {
    for (ValueId operand : std::vector(m_.op(op).operands)) prepare(in_body, at, operand);
  }
  Frame& frame(bool in_body, int at) { return in_body ? body_frames_[at] : before_frames_[at]; }

  ValueId carried_before(size_t j, int at) {
    if (at == 0) return loop_.init(j);
    prepare(false, at - 1, loop_.next(j));
    b_.set_region(before_);
    return copy(frame(false, at - 1), loop_.next(j));
  }

  // The value that `value` has in a frame, made at the builder's place.
  ValueId copy(Frame& frame, ValueId value) {
    if (!loop_.is_inside(value)) return value;
    if (auto found = frame.find(value); found != frame.end()) return found->second;
    OpId def = m_.value(value).def;
    TW_CHECK(def.valid(), "a value that was not prepared is copied");
    OpId made = copy_op(frame, def);
    for (size_t i = 0; i < m_.op(def).results.size(); ++i)
      frame[m_.op(def).results[i]] = m_.op(made).results[i];
    return frame.at(value);
  }
  OpId copy_op(Frame& frame, OpId original) {
    OpNode node = m_.op(original);
    std::vector<Type> types;
    for (ValueId result : node.results) types.push_back(m_.type(result));
    for (ValueId& operand : node.operands) operand = copy(frame, operand);
    Span outer = b_.span();
    b_.set_span(node.span);
    if (node.op == Op::Load && condition_.valid())
      node.operands = masked(std::move(node.operands), condition_);
    OpId made = b_.make_op(node.op, node.operands, node.attrs, types);
    b_.set_span(outer);
    for (size_t i = 0; i < types.size(); ++i)
      m_.value(m_.op(made).results[i]).name = m_.value(node.results[i]).name;
    return made;
  }

  // Carried value j as it is `distance` iterations later.
  ValueId carried_ahead(size_t j, int distance) {
    auto [found, is_new] = carried_ahead_.emplace(std::pair(j, distance), ValueId{});
    if (is_new) {
      found->second = add_carried(m_.type(loop_.arg(j)), m_.value(loop_.arg(j)).name);
      carried_requests_.push_back({j, distance});
    }
    return found->second;
  }
  // What a load gives `distance` iterations later.
  ValueId loaded_ahead(OpId load, int distance) {
    auto [found, is_new] = loaded_ahead_.emplace(std::pair(load, distance), ValueId{});
    if (is_new) {
      ValueId value = m_.op(load).results[0];
      found->second = add_carried(m_.type(value), m_.value(value).name);
      load_requests_.push_back({load, distance});
    }
    return found->second;
  }

  // ---- what is loaded if an iteration exists ----

  // The operands of a load, masked off unless `condition` holds.
  std::vector<ValueId> masked(std::vector<ValueId> operands, ValueId condition) {
    const Type& pointer = m_.type(operands[0]);
    ValueId mask = condition;
    if (pointer.is_tile())
      mask = b_.make_as(Op::Splat, Type::tile(Dtype::kI1, pointer.shape), {condition});
    if (operands.size() == 1)
      operands.push_back(mask);
    else
      operands[1] = b_.make(Op::And, {operands[1], mask});
    return operands;
  }

  void copy_slots(Frame frame, const std::vector<Buffer>& buffers, ValueId slot) {
    for (const Buffer& buffer : buffers) {
      OpNode load = m_.op(buffer.load);
      b_.set_span(load.span);
      std::vector<ValueId> operands = {copy(frame, load.operands[0])};
      if (load.operands.size() > 1) operands.push_back(copy(frame, load.operands[1]));
      if (condition_.valid()) operands = masked(std::move(operands), condition_);
      operands.insert(operands.begin(), {buffer.value, slot});
      ir::Attrs attrs = load.attrs;
      attrs.erase("volatile");
      b_.make_op(Op::CopyAsync, operands, attrs, {});
    }
    b_.set_span(loop_.node().span);
  }
  void copy_slots_if(RegionId region, ValueId condition, const Frame& frame,
                     const std::vector<Buffer>& buffers, ValueId slot) {
    if (branches_) return make_if(region, condition, [&] { copy_slots(frame, buffers, slot); });
    b_.set_region(region);
    condition_ = condition;
    copy_slots(frame, buffers, slot);
    condition_ = {};
  }

  // if condition { body } in the region.
  template <class Body>
  void make_if(RegionId region, ValueId condition, Body body) {
    b_.set_region(region);
    OpId id = b_.make_if(condition, {});
    b_.set_region(m_.op(id).regions[0]);
    body();
    b_.yield({});
    b_.set_region(m_.op(id).regions[1]);
    b_.yield({});
    b_.set_region(region);
  }

  // What the loads give in a frame if the condition holds, else zeros.
  std::vector<ValueId> load_if(RegionId region, ValueId condition, Frame frame,
                               const std::vector<OpId>& loads) {
    if (!branches_) return load_masked(region, condition, std::move(frame), loads);
    std::vector<Type> types;
    for (OpId load : loads) types.push_back(m_.type(m_.op(load).results[0]));
    b_.set_region(region);
    OpId id = b_.make_if(condition, types);
    b_.set_region(m_.op(id).regions[0]);
    std::vector<ValueId> values;
    for (OpId load : loads) values.push_back(copy(frame, m_.op(load).results[0]));
    b_.yield(values);
    b_.set_region(m_.op(id).regions[1]);
    for (size_t i = 0; i < loads.size(); ++i)
      values[i] =
          is_float(types[i].dtype) ? b_.constant_float(types[i], 0) : b_.constant_int(types[i], 0);
    b_.yield(values);
    b_.set_region(region);
    std::vector<ValueId> results = m_.op(id).results;
    for (size_t i = 0; i < loads.size(); ++i)
      m_.value(results[i]).name = m_.value(m_.op(loads[i]).results[0]).name;
    return results;
  }

  std::vector<ValueId> load_masked(RegionId region, ValueId condition, Frame frame,
                                   const std::vector<OpId>& loads) {
    b_.set_region(region);
    condition_ = condition;
    std::vector<ValueId> values;
    for (OpId load : loads) values.push_back(copy(frame, m_.op(load).results[0]));
    condition_ = {};
    return values;
  }

  // ---- before the loop ----

  ValueId exists_before(int count) {
    auto [found, is_new] = exists_before_.emplace(count, ValueId{});
    b_.set_region(before_);
    if (is_new) found->second = bounds_.exists(count);
    return found->second;
  }

  void fill_slots() {
    for (int s = 0; !async_.empty() && s + 1 < plan_.stages; ++s) {
      for (const Buffer& buffer : async_) prepare_operands(false, s, buffer.load);
      ValueId exists = exists_before(s), number = slot(s);
      copy_slots_if(before_, exists, before_frames_[s], async_, number);
      if (s == 0) copy_slots_if(before_, exists, before_frames_[s], once_, number);
      b_.make_op(Op::CopyCommit, {}, {}, {});
    }
    if (staged_.empty()) return;
    std::vector<OpId> loads = loads_of(staged_);
    for (OpId load : loads) prepare_operands(false, 0, load);
    auto values = load_if(before_, exists_before(0), before_frames_[0], loads);
    store(staged_, slot(0), values);
  }
  static std::vector<OpId> loads_of(const std::vector<Buffer>& buffers) {
    std::vector<OpId> loads;
    for (const Buffer& buffer : buffers) loads.push_back(buffer.load);
    return loads;
  }
  void store(const std::vector<Buffer>& buffers, ValueId slot, const std::vector<ValueId>& values) {
    for (size_t i = 0; i < buffers.size(); ++i)
      b_.make_op(Op::SharedStore, {buffers[i].value, slot, values[i]}, {}, {});
  }

  // ---- the body ----

  ValueId exists_after(int count) {
    auto [found, is_new] = exists_after_.emplace(count, ValueId{});
    b_.set_region(top_);
    if (is_new) found->second = bounds_.exists_after(loop_.iv(), count);
    return found->second;
  }

  void begin_body() {
    b_.set_region(top_);
    if (!async_.empty())
      b_.make_op(Op::CopyWait, {}, {{"pending", int64_t{plan_.stages - 2}}}, {});
    else if (!staged_.empty())
      b_.make_op(Op::Barrier, {}, {}, {});
    // Beside dots the fragments that are needed first are read first.
    if (branches_) load_slots();
    if (!async_.empty()) {
      int distance = plan_.stages - 1;
      for (const Buffer& buffer : async_) prepare_operands(true, distance, buffer.load);
      ValueId exists = exists_after(distance), write = rings_.at(plan_.stages).write;
      copy_slots_if(top_, exists, body_frames_[distance], async_, write);
      b_.make_op(Op::CopyCommit, {}, {}, {});
    }
    if (!branches_) load_slots();
  }

  void load_slots() {
    for (const auto* buffers : {&async_, &once_, &staged_})
      for (const Buffer& buffer : *buffers) {
        ValueId value = m_.op(buffer.load).results[0];
        b_.set_span(m_.op(buffer.load).span);
        ValueId read = buffer.slots == 1 ? slot(0) : rings_.at(buffer.slots).read;
        ValueId tile = b_.make(Op::SharedLoad, {buffer.value, read});
        m_.value(tile).name = m_.value(value).name;
        replaced_[value] = tile;
      }
    b_.set_span(loop_.node().span);
  }

  // Everything that has to be carried is asked for before any of it is made.
  void request_all() {
    for (OpId load : ahead_) replaced_[m_.op(load).results[0]] = loaded_ahead(load, 0);
    for (const Buffer& buffer : staged_) prepare_operands(true, 1, buffer.load);
    size_t loads = 0, carried = 0;
    while (loads < load_requests_.size() || carried < carried_requests_.size()) {
      if (loads < load_requests_.size()) {
        auto [load, distance] = load_requests_[loads++];
        prepare_operands(true, distance + 1, load);
        prepare_operands(false, distance, load);
      } else {
        auto [j, distance] = carried_requests_[carried++];
        prepare(true, distance, loop_.next(j));
        prepare(false, distance, loop_.arg(j));
      }
    }
  }

  void load_ahead() {
    std::map<int, std::vector<OpId>> by_distance;  // of the load itself
    if (!staged_.empty()) by_distance[1] = loads_of(staged_);
    for (auto [load, distance] : load_requests_) by_distance[distance + 1].push_back(load);
    for (const auto& [distance, loads] : by_distance) {
      auto values = load_if(top_, exists_after(distance), body_frames_[distance], loads);
      for (size_t i = 0; i < loads.size(); ++i) {
        bool is_staged = distance == 1 && i < staged_.size();
        if (is_staged)
          staged_values_.push_back(values[i]);
        else
          added(loaded_ahead_.at({loads[i], distance - 1})).next = values[i];
      }
    }
    by_distance.clear();
    for (auto [load, distance] : load_requests_) by_distance[distance].push_back(load);
    for (const auto& [distance, loads] : by_distance) {
      auto values = load_if(before_, exists_before(distance), before_frames_[distance], loads);
      for (size_t i = 0; i < loads.size(); ++i)
        added(loaded_ahead_.at({loads[i], distance})).init = values[i];
    }
  }

  void finish_body() {
    b_.set_region(bottom_);
    if (!staged_.empty()) store(staged_, rings_.at(2).write, staged_values_);
    std::map<int, Frame> frames = body_frames_;
    for (auto [j, distance] : carried_requests_) {
      Added& value = added(carried_ahead_.at({j, distance}));
      value.init = before_frames_[distance].at(loop_.arg(j));
      value.next = copy(frames[distance], loop_.next(j));
    }
    for (const auto& [slots, ring] : rings_) {
      added(ring.write).next = ring.read;
      // Of two slots, the one that is written is read next.
      ValueId next = ring.write;
      if (slots > 2) {
        next = b_.make(Op::Add, {ring.read, slot(1)});
        ValueId at_end = b_.make(Op::Cmp, {next, slot(slots)}, {{"pred", std::string("eq")}});
        next = b_.make(Op::Select, {at_end, slot(0), next});
      }
      added(ring.read).next = next;
    }
  }

  // ---- together ----

  // Moves the ops of a region that was made here.
  void move_ops(RegionId from, RegionId to, std::vector<OpId>& ops) {
    for (OpId id : m_.region(from).ops) {
      m_.op(id).parent = to;
      ops.push_back(id);
    }
    m_.region(from).ops.clear();
  }

  void assemble() {
    std::vector<OpId> body, old = m_.region(loop_.body).ops;
    OpId yield = old.back();
    old.pop_back();
    move_ops(top_, loop_.body, body);
    for (OpId id : old) {
      bool is_moved = m_.op(id).op == Op::Load && replaced_.contains(m_.op(id).results[0]);
      if (is_moved)
        m_.op(id).parent = {};
      else
        body.push_back(id);
    }
    move_ops(bottom_, loop_.body, body);
    body.push_back(yield);
    m_.region(loop_.body).ops = std::move(body);
    for (const auto& [from, to] : replaced_) m_.replace_uses(from, to);

    OpNode node = m_.op(loop_.op);
    std::vector<Type> types;
    for (ValueId result : node.results) types.push_back(m_.type(result));
    for (const Added& value : added_) {
      node.operands.push_back(value.init);
      m_.op(yield).operands.push_back(value.next);
      types.push_back(m_.type(value.arg));
    }
    node.attrs.set("num_stages", int64_t{1});
    OpId made = m_.add_op(Op::For, node.span, node.operands, node.attrs, types);
    m_.op(made).regions = node.regions;
    m_.region(loop_.body).parent = made;
    for (size_t i = 0; i < node.results.size(); ++i) {
      ValueId result = m_.op(made).results[i];
      m_.value(result).name = m_.value(node.results[i]).name;
      m_.replace_uses(node.results[i], result);
    }
    replace_loop(node.parent, made);
  }

  void replace_loop(RegionId parent, OpId made) {
    std::vector<OpId> ops;
    for (OpId id : std::vector(m_.region(parent).ops)) {
      if (id != loop_.op) {
        ops.push_back(id);
        continue;
      }
      move_ops(before_, parent, ops);
      m_.op(made).parent = parent;
      ops.push_back(made);
      b_.set_region(top_);
      if (!async_.empty())
        b_.make_op(Op::CopyWait, {}, {{"pending", int64_t{0}}}, {});
      else if (!staged_.empty())
        b_.make_op(Op::Barrier, {}, {}, {});
      move_ops(top_, parent, ops);
    }
    m_.op(loop_.op).parent = {};
    m_.op(loop_.op).regions.clear();
    m_.region(parent).ops = std::move(ops);
  }

  ir::Module& m_;
  const LoopPlan& plan_;
  Loop loop_;
  ir::Builder b_;
  Bounds bounds_;
  RegionId before_, top_, bottom_;  // ops that go before the loop, first and last in its body
  bool branches_;                   // loads that may not exist stand in an `if`
  ValueId condition_;               // else what they are masked with, while they are made
  std::vector<Buffer> async_, once_, staged_;
  std::vector<OpId> ahead_;
  std::map<int, Ring> rings_;
  std::vector<Added> added_;
  std::map<int, Frame> before_frames_, body_frames_;
  std::map<int, std::set<ValueId>> before_ready_, body_ready_;
  std::map<std::pair<size_t, int>, ValueId> carried_ahead_;
  std::map<std::pair<OpId, int>, ValueId> loaded_ahead_;
  std::vector<std::pair<size_t, int>> carried_requests_;
  std::vector<std::pair<OpId, int>> load_requests_;
  std::map<int, ValueId> exists_before_, exists_after_;
  std::map<ValueId, ValueId> replaced_;
  std::vector<ValueId> staged_values_;
  int64_t bytes_ = 0;
};

}  // namespace

int64_t pipeline(ir::Module& module, const LoopPlan& plan) {
  return Pipeline(module, plan).run();
}

}  // namespace tilewright::schedule
