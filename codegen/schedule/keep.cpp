#include "codegen/schedule/keep.h"

#include <algorithm>

#include "codegen/passes/passes.h"
#include "codegen/schedule/bounds.h"
#include "codegen/schedule/clone.h"
#include "codegen/schedule/pointer_roots.h"
#include "codegen/schedule/sweeps.h"

namespace tilewright::schedule {
namespace {

using ir::Module;
using ir::Op;
using ir::OpId;
using ir::OpNode;
using ir::RegionId;
using ir::Type;
using ir::ValueId;

// Registers of a thread beside 7/4 for each element of the tile: as loaded, loaded ahead, computed.
constexpr int kOtherRegisters = 24;
constexpr int kEnoughThreads = 1536;
// What exchanges need of a program's shared memory.
constexpr int64_t kExchanges = 2048;
constexpr int64_t kMostSlots = 64;
// What is left of an SM's memory is its L1 cache, where loads need a place while they are under
// way: one iteration of each program, and this.
constexpr int64_t kCache = 16384;

// A load of a later loop that gives what one of the first loop gave, in this loop's iteration or in
// the one that is as far from the end.
struct Repeat {
  OpId load;
  size_t kept = 0;  // which load of the first loop
  bool reversed = false;
};

class Keeper {
 public:
  Keeper(Module& module, const Target& target, const std::vector<OpId>& sweeps)
      : m_(module), target_(target), sweeps_(sweeps), first_(module, sweeps[0]), b_(module) {}

  std::vector<KeptLoad> run() {
    if (m_.type(first_.lo()) != Type::scalar(Dtype::kI32)) return {};
    auto step = first_.constant_step();
    if (!step || *step <= 0 || *step > INT32_MAX / kMostSlots) return {};
    step_ = *step;
    repeats_.resize(sweeps_.size());
    for (OpId load : first_.loads) find_repeats(load);
    if (kept_.empty() || !decide_slots()) return {};
    fill();
    for (size_t i = 1; i < sweeps_.size(); ++i)
      if (!repeats_[i].empty()) split(sweeps_[i], repeats_[i]);
    std::vector<KeptLoad> report;
    for (OpId load : kept_)
      report.push_back({m_.op(load).span, m_.type(m_.op(load).results[0]), slots_});
    return report;
  }

 private:
  RegionId region() const { return m_.op(sweeps_[0]).parent; }

  // ---- what is loaded again ----

  // Whether something between the first loop's load and the last loop may write what it reads.
  bool is_overwritten(OpId load) {
    PointerRoots roots(m_);
    const std::vector<OpId>& ops = m_.region(region()).ops;
    bool written = false;
    auto look = [&](OpId id) {
      const OpNode& op = m_.op(id);
      if (!ir::op_info(op.op).has(ir::kWrites)) return;
      written |= op.op != Op::Store || roots.may_overlap(m_.op(load).operands[0], op.operands[0]);
    };
    for (auto at = std::ranges::find(ops, sweeps_.front());; ++at) {
      look(*at);
      for (RegionId nested : m_.op(*at).regions) ir::walk(m_, nested, look);
      if (*at == sweeps_.back()) return written;
    }
  }

  // Whether `b` is computed as `a` of the first loop is, with `index` in place of its index.
  bool matches(ValueId a, ValueId b, ValueId& index) const {
    if (a == first_.iv()) {
      if (!index.valid()) index = b;
      return index == b;
    }
    if (!first_.is_inside(a)) return a == b;
    const OpNode *x = m_.def(a), *y = m_.def(b);
    return x != nullptr && y != nullptr && x->op == y->op && x->attrs == y->attrs &&
           x->regions.empty() && x->results.size() == 1 && ir::op_info(x->op).has(ir::kPure) &&
           matches(x->operands, y->operands, index);
  }
  bool matches(const std::vector<ValueId>& a, const std::vector<ValueId>& b, ValueId& index) const {
    if (a.size() != b.size()) return false;
    for (size_t i = 0; i < a.size(); ++i)
      if (!matches(a[i], b[i], index)) return false;
    return index.valid();
  }

  // `index` is lo + hi - 1 - (the loop's own index), for lo = 0.
  bool is_reversed(const Loop& loop, ValueId index) const {
    const OpNode* sub = m_.def(index);
    if (step_ != 1 || constant_int(m_, loop.lo()) != 0 || sub == nullptr || sub->op != Op::Sub ||
        sub->operands[1] != loop.iv())
      return false;
    const OpNode* last = m_.def(sub->operands[0]);
    if (last == nullptr || last->operands.size() != 2 || last->operands[0] != loop.hi())
      return false;
    int64_t one = last->op == Op::Add ? -1 : 1;
    return (last->op == Op::Add || last->op == Op::Sub) &&
           constant_int(m_, last->operands[1]) == one;
  }

  void find_repeats(OpId load) {
    const OpNode& op = m_.op(load);
    if (!m_.type(op.results[0]).is_tile() || m_.type(op.results[0]).dtype == Dtype::kI1 ||
        op.attrs.get_int("volatile") == 1 || is_overwritten(load))
      return;
    bool found = false;
    for (size_t i = 1; i < sweeps_.size(); ++i) {
      Loop later(m_, sweeps_[i]);
      for (OpId other : later.loads) {
        ValueId index;
        if (m_.op(other).attrs.get_int("volatile") == 1 ||
            !matches(op.operands, m_.op(other).operands, index))
          continue;
        bool reversed = is_reversed(later, index);
        if (index != later.iv() && !reversed) continue;
        if (!repeats_[i].empty() && repeats_[i][0].reversed != reversed) continue;
        repeats_[i].push_back({other, kept_.size(), reversed});
        found = true;
      }
    }
    if (found) kept_.push_back(load);
  }

  // As many as leave room for the programs that registers have room for.
  bool decide_slots() {
    int threads = 32 * static_cast<int>(m_.attrs.get_int("num_warps", 4));
    int64_t bytes = 0, elements = 1;
    for (OpId load : kept_) {
      const Type& type = m_.type(m_.op(load).results[0]);
      bytes += type.element_count() * type.element_bytes();
      elements = std::max(elements, type.element_count() / threads);
    }
    int64_t registers = std::min<int64_t>(kOtherRegisters + elements * 3 / 2, 255);
    int64_t programs =
        std::min({target_.registers_per_sm / (registers * threads),
                  int64_t{kEnoughThreads} / threads, int64_t{target_.max_blocks_per_sm}});
    programs = std::max<int64_t>(1, programs);
    int64_t room =
        (target_.shared_per_sm - kCache) / programs - bytes - target_.reserved_shared_per_block;
    room = std::min<int64_t>(room, target_.shared_per_block) - kExchanges;
    int64_t slots = std::min(room / bytes, kMostSlots);
    if (auto count = first_.trip_count()) slots = std::min(slots, *count);
    slots_ = static_cast<int>(slots);
    return slots > 0;
  }

  // ---- the first loop ----

  // Which iteration of the first loop has this index, as u32.
  ValueId number_of(ValueId index) {
    Type word = Type::scalar(Dtype::kU32);
    ValueId number = b_.make_as(Op::Bitcast, word, {b_.make(Op::Sub, {index, first_.lo()})});
    if (step_ == 1) return number;
    return b_.make(Op::Div, {number, b_.constant_int(word, step_)});
  }
  ValueId slot_of(ValueId index) {
    return b_.make_as(Op::Bitcast, Type::scalar(Dtype::kI32), {number_of(index)});
  }

  // Moves the ops that were made at the end of a region to where `position` is.
  void insert(RegionId region, OpId position, size_t behind, size_t made_from) {
    auto& ops = m_.region(region).ops;
    std::vector<OpId> made(ops.begin() + static_cast<std::ptrdiff_t>(made_from), ops.end());
    ops.resize(made_from);
    auto at = std::ranges::find(ops, position) + static_cast<std::ptrdiff_t>(behind);
    ops.insert(at, made.begin(), made.end());
  }

  void fill() {
    size_t from = m_.region(region()).ops.size();
    b_.set_region(region());
    for (OpId load : kept_) {
      const Type& type = m_.type(m_.op(load).results[0]);
      b_.set_span(m_.op(load).span);
      buffers_.push_back(b_.make_as(Op::SharedAlloc, Type::shared(slots_, type), {}));
      m_.value(buffers_.back()).name = m_.value(m_.op(load).results[0]).name;
    }
    insert(region(), sweeps_[0], 0, from);
    for (size_t k = 0; k < kept_.size(); ++k) {
      from = m_.region(first_.body).ops.size();
      b_.set_region(first_.body);
      b_.set_span(m_.op(kept_[k]).span);
      ValueId number = number_of(first_.iv());
      ValueId has_slot = b_.make(Op::Cmp, {number, b_.constant_int(m_.type(number), slots_)},
                                 {{"pred", std::string("lt")}});
      OpId choice = b_.make_if(has_slot, {});
      for (size_t r : {0, 1}) {
        b_.set_region(m_.op(choice).regions[r]);
        if (r == 0)
          b_.make_op(Op::SharedStore,
                     {buffers_[k], slot_of(first_.iv()), m_.op(kept_[k]).results[0]}, {}, {});
        b_.yield({});
      }
      insert(first_.body, kept_[k], 1, from);
    }
    from = m_.region(region()).ops.size();
    b_.set_region(region());
    b_.set_span(m_.op(sweeps_[0]).span);
    b_.make_op(Op::Barrier, {}, {}, {});
    insert(region(), sweeps_[0], 1, from);
  }

  // ---- later loops ----

  // Two loops in place of one; a copy does the iterations that have slots.
  void split(OpId id, const std::vector<Repeat>& repeats) {
    bool reversed = repeats[0].reversed;
    size_t from = m_.region(region()).ops.size();
    b_.set_region(region());
    b_.set_span(m_.op(id).span);
    Loop loop(m_, id);
    Bounds bounds(loop, b_);
    ValueId lo = loop.lo(), hi = loop.hi();
    ValueId there = reversed ? b_.make(Op::Sub, {hi, b_.constant_int(m_.type(hi), slots_)})
                             : bounds.advance(lo, slots_);
    ValueId middle = b_.make(Op::Select, {bounds.exists(slots_), there, reversed ? lo : hi});
    Cloner cloner(m_);
    cloner.copy_op(id, region());
    OpId copy = m_.region(region()).ops.back();
    m_.op(copy).operands[reversed ? 0 : 1] = middle;
    m_.op(id).operands[reversed ? 1 : 0] = middle;
    read_slots(copy, cloner, repeats);
    insert(region(), id, reversed ? 1 : 0, from);
    if (reversed) {
      // The bounds are needed before the first of the two.
      auto& ops = m_.region(region()).ops;
      auto original = std::ranges::find(ops, id), copied = std::ranges::find(ops, copy);
      std::rotate(original, original + 1, copied);
    }
    for (size_t j = 0; j < loop.carried(); ++j) {
      ValueId mine = m_.op(id).results[j], its = m_.op(copy).results[j];
      if (reversed) {
        m_.replace_uses(mine, its);
        m_.op(copy).operands[3 + j] = mine;
      } else {
        m_.op(id).operands[3 + j] = its;
      }
    }
  }

  void read_slots(OpId copy, const Cloner& cloner, const std::vector<Repeat>& repeats) {
    RegionId body = m_.op(copy).regions[0];
    for (const Repeat& repeat : repeats) {
      ValueId loaded = cloner.mapped(m_.op(repeat.load).results[0]);
      OpId load = m_.value(loaded).def;
      size_t from = m_.region(body).ops.size();
      b_.set_region(body);
      b_.set_span(m_.op(load).span);
      ValueId index = m_.region(body).args[0];
      if (repeat.reversed) {
        ValueId one = b_.constant_int(m_.type(index), 1);
        index = b_.make(Op::Sub, {b_.make(Op::Sub, {first_.hi(), one}), index});
      }
      ValueId tile = b_.make(Op::SharedLoad, {buffers_[repeat.kept], slot_of(index)});
      m_.value(tile).name = m_.value(loaded).name;
      insert(body, load, 0, from);
      m_.replace_uses(loaded, tile);
      std::erase(m_.region(body).ops, load);
      m_.op(load).parent = {};
    }
  }

  Module& m_;
  const Target& target_;
  const std::vector<OpId>& sweeps_;
  Loop first_;
  ir::Builder b_;
  int64_t step_ = 1;
  int slots_ = 0;
  std::vector<OpId> kept_;
  std::vector<ValueId> buffers_;
  std::vector<std::vector<Repeat>> repeats_;  // by sweep
};

bool has_op(const Module& module, std::initializer_list<Op> wanted) {
  bool found = false;
  ir::walk(module, module.body,
           [&](OpId id) { found |= std::ranges::count(wanted, module.op(id).op) > 0; });
  return found;
}

}  // namespace

std::vector<KeptLoad> keep_rows(Module& module, const Target& target) {
  if (has_op(module, {Op::Dot, Op::SharedAlloc})) return {};
  std::vector<OpId> sweeps = find_sweeps(module, module.body);
  if (sweeps.empty()) return {};
  std::vector<KeptLoad> kept = Keeper(module, target, sweeps).run();
  if (kept.empty()) return {};
  passes::canonicalize(module);
  passes::eliminate_common_subexpressions(module);
  passes::eliminate_dead_code(module);
  return kept;
}

}  // namespace tilewright::schedule
