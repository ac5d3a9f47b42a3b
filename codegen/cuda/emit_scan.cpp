// Scans along an axis. The index along it is a row of bit groups held by registers, lanes or warps
// (layout::axis_groups), lowest first; each group is a level:
//
//   up     level by level: inclusive scans within the group, in registers one after the other, over
//          lanes by shuffles (Sklansky: the upper half of a block takes the last of the lower one),
//          over warps by one round through shared memory. The last of each goes on to the next
//          level
//   down   from the top: what stands before an element's group is combined with what stands before
//          it in the group, until it reaches the elements
//
// Combinations keep left and right apart; nothing is assumed but associativity, no neutral element
// is needed. In reverse, "first" and "last" change places and so do all conditions.
//
//   TW_EACH(i, 8) { join(x[i * 4 + 1], x[i * 4]); }                      // registers
//   TW_EACH(i, 8) { f32 y = tw_shfl(t[i], from); if (up) join(t[i], y); }    // lanes
//   { f32 p[4]; tw_shared_load<4>(p, at); TW_EACH(j, 3) { join(p[j + 1], p[j]); if (place == j +
//   1u) e = p[j]; } } TW_EACH(i, 32) if (behind) join(x[i], e[i >> 2]);
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "codegen/cuda/emit_combine.h"
#include "codegen/cuda/emit_ops.h"
#include "dsl/base/check.h"

namespace tilewright::cuda {
namespace {

using ir::OpNode;
using ir::ValueId;
using layout::AxisGroup;
using Holder = AxisGroup::Holder;

// Partial results in shared memory above this are exchanged in several rounds.
constexpr int64_t kScratchLimit = 32 * 1024;
constexpr uint32_t kLanes = 31;

// One array for each operand, or a scalar where there is one entry.
struct Arrays {
  std::vector<std::string> names;
  uint32_t size = 1;

  std::string at(size_t k, const std::string& index) const {
    return size > 1 ? names[k] + "[" + index + "]" : names[k];
  }
};

// What stands before each entry: it exists where `always`, elsewhere in threads whose number has a
// bit of `threads` set (in reverse: clear).
struct Before {
  Arrays arrays;
  std::vector<bool> always;
  uint32_t threads = 0;
};

struct Level {
  AxisGroup group;
  std::vector<int> registers;  // register bits that the entries of the level's arrays count
  Arrays inclusive, exclusive;
};

class Scan {
 public:
  Scan(Emitter& e, ir::OpId id)
      : e_(e),
        id_(id),
        op_(e.module.op(id)),
        axis_(static_cast<int>(op_.attrs.get_int("axis"))),
        reverse_(op_.attrs.get_int("reverse", 0) != 0),
        layout_(required_layout(e.module, e.assignment, id, 0)) {}

  void run() {
    auto groups = layout::axis_groups(layout_, axis_);
    TW_CHECK(groups.has_value(), "a scan in a layout that mixes its axis");
    if (!groups->empty() && groups->front().holder == Holder::kWarp)
      groups->insert(groups->begin(), {Holder::kRegister, {}});
    fold_ = emit_fold(e_, op_);
    emit_join();
    other_ = e_.fresh("other");
    part_ = e_.fresh("part");
    copy_operands();
    if (!groups->empty()) {
      go_up(*groups);
      go_down();
    }
    define_results();
  }

 private:
  // ---- text ----
  size_t arity() const { return op_.operands.size(); }
  std::string type(size_t k) const { return type_name(e_.module.type(op_.operands[k])); }

  // "f(a0, a1, …, b0, b1, …);"
  template <class A, class B>
  std::string call(const std::string& function, A a, B b) const {
    std::string text = function + "(";
    for (size_t k = 0; k < arity(); ++k) text += (k > 0 ? ", " : "") + a(k);
    for (size_t k = 0; k < arity(); ++k) text += ", " + b(k);
    return text + ");";
  }
  // Puts entry `before` of arrays in front of entry `index` of others.
  std::string join(const Arrays& to, const std::string& index, const Arrays& from,
                   const std::string& before) const {
    return call(
        join_, [&](size_t k) { return to.at(k, index); },
        [&](size_t k) { return from.at(k, before); });
  }
  // One text for each operand.
  template <class Text>
  std::string all(Text text) const {
    std::string out;
    for (size_t k = 0; k < arity(); ++k) out += (k > 0 ? " " : "") + text(k);
    return out;
  }
  static std::string block(const std::string& text) { return "{ " + text + " }"; }

  // join(a…, b…): (a…) becomes the combination of (b…) and (a…).
  void emit_join() {
    join_ = e_.fresh("join");
    std::string parameters, before = e_.fresh("before"), moves;
    auto left = [&](size_t k) { return fmt::format("{}{}", before, k); };
    auto right = [&](size_t k) { return fmt::format("to{}", k); };
    for (size_t k = 0; k < arity(); ++k) {
      parameters += fmt::format("{}{}& {}", k > 0 ? ", " : "", type(k), right(k));
      moves += fmt::format(" {} = {};", right(k), left(k));
    }
    for (size_t k = 0; k < arity(); ++k) parameters += fmt::format(", {} {}", type(k), left(k));
    e_.out.line(fmt::format("auto {} = [&]({}) TW_INLINE {{ {}{} }};", join_, parameters,
                            call(fold_, left, right), moves));
  }

  Arrays declare(std::string_view hint, uint32_t size) {
    Arrays arrays{{}, size};
    for (size_t k = 0; k < arity(); ++k) {
      arrays.names.push_back(e_.fresh(hint));
      e_.out.line(size > 1 ? fmt::format("{} {}[{}];", type(k), arrays.names[k], size)
                           : fmt::format("{} {};", type(k), arrays.names[k]));
    }
    return arrays;
  }

  void copy_operands() {
    elements_ = declare(e_.name_for(op_.results[0]), static_cast<uint32_t>(layout_.registers()));
    std::vector<uint32_t> own;
    for (uint32_t r = 0; r < elements_.size; ++r) own.push_back(r);
    for (size_t k = 0; k < arity(); ++k) {
      View x = e_.use(id_, static_cast<int>(k));
      e_.each({own, x.indices(own)}, [&](const std::vector<std::string>& i) {
        return fmt::format("{} = {};", elements_.at(k, i[0]), x.element(i[1]));
      });
    }
  }

  // ---- numbers of entries ----
  // The entries of a level without the group's own bits, and how positions within the group spread
  // over the bits of an entry's number.
  struct Spread {
    std::vector<uint32_t> others;    // entry numbers at position 0
    std::vector<uint32_t> position;  // entry bits of position p
  };
  Spread spread(const Level& level) const {
    std::vector<uint32_t> own, other;
    for (size_t b = 0; b < level.registers.size(); ++b) {
      bool in_group = level.group.holder == Holder::kRegister &&
                      std::ranges::count(level.group.bits, level.registers[b]) > 0;
      (in_group ? own : other).push_back(1u << b);
    }
    auto numbers = [](const std::vector<uint32_t>& bits) {
      std::vector<uint32_t> out;
      for (uint32_t n = 0; n < 1u << bits.size(); ++n) {
        uint32_t number = 0;
        for (size_t b = 0; b < bits.size(); ++b) number |= (n >> b & 1) * bits[b];
        out.push_back(number);
      }
      return out;
    };
    Spread out{numbers(other), numbers(own)};
    if (reverse_) std::ranges::reverse(out.position);
    return out;
  }
  static std::vector<uint32_t> moved(std::vector<uint32_t> numbers, uint32_t by) {
    for (uint32_t& n : numbers) n ^= by;
    return numbers;
  }
  static std::vector<uint32_t> counted(uint32_t size) {
    std::vector<uint32_t> out;
    for (uint32_t n = 0; n < size; ++n) out.push_back(n);
    return out;
  }

  // ---- threads ----
  // The bits of the thread number that a group of lanes or warps stands for.
  static uint32_t thread_bits(const AxisGroup& group) {
    uint32_t mask = 0;
    if (group.holder == Holder::kRegister) return 0;
    for (int bit : group.bits)
      mask |= 1u << (bit + (group.holder == Holder::kWarp ? layout::kLaneBits : 0));
    return mask;
  }
  std::string thread_test(const std::string& hint, uint32_t mask, const std::string& test) {
    e_.thread();
    return e_.at_top("bool", hint, fmt::format("(thread & {}) {}", mask, test));
  }
  // Whether something stands before this thread in the group of these bits.
  std::string behind(uint32_t mask) {
    return thread_test("behind", mask, reverse_ ? fmt::format("!= {}", mask) : "!= 0");
  }

  // ---- up ----
  void go_up(const std::vector<AxisGroup>& groups) {
    Level level{groups[0], {}, elements_, {}};
    for (int b = 0; b < static_cast<int>(layout_.reg.size()); ++b) level.registers.push_back(b);
    for (size_t g = 0; g < groups.size(); ++g) {
      const AxisGroup* next = g + 1 < groups.size() ? &groups[g + 1] : nullptr;
      Level above;
      switch (level.group.holder) {
        case Holder::kRegister:
          above = scan_registers(level, next != nullptr);
          break;
        case Holder::kLane:
          above = scan_lanes(level, g > 0, next);
          break;
        case Holder::kWarp:
          above = scan_warps(level, next != nullptr);
          break;
      }
      passed_ |= thread_bits(level.group);
      levels_.push_back(std::move(level));
      level = std::move(above);
      if (next) level.group = *next;
    }
  }

  // Entries of the level above, made of the last ones of the groups of this one.
  Level scan_registers(Level& level, bool goes_on) {
    Spread s = spread(level);
    for (size_t p = 1; p < s.position.size(); ++p)
      e_.each({moved(s.others, s.position[p]), moved(s.others, s.position[p - 1])},
              [&](const std::vector<std::string>& i) {
                return join(level.inclusive, i[0], level.inclusive, i[1]);
              });
    Level above;
    if (!goes_on) return above;
    for (int b : level.registers)
      if (std::ranges::count(level.group.bits, b) == 0) above.registers.push_back(b);
    above.inclusive = declare("total", static_cast<uint32_t>(s.others.size()));
    copy(above.inclusive, counted(above.inclusive.size), level.inclusive,
         moved(s.others, s.position.back()));
    return above;
  }

  void copy(const Arrays& to, const std::vector<uint32_t>& entries, const Arrays& from,
            const std::vector<uint32_t>& sources) {
    e_.each({entries, sources}, [&](const std::vector<std::string>& i) {
      std::string text =
          all([&](size_t k) { return fmt::format("{} = {};", to.at(k, i[0]), from.at(k, i[1])); });
      return arity() > 1 ? block(text) : text;
    });
  }

  std::string for_entries(uint32_t size, const std::string& text) const {
    return size > 1 ? fmt::format("TW_EACH(i, {}) {}", size, text) : text;
  }
  // to = what another lane holds in `from`.
  void shuffle(const Arrays& to, const Arrays& from, const std::string& lane) {
    std::string text = all([&](size_t k) {
      return fmt::format("{} = tw_shfl({}, {});", to.at(k, "i"), from.at(k, "i"), lane);
    });
    e_.out.line(for_entries(to.size, arity() > 1 ? block(text) : text));
  }
  // The thread's number where `kept`, with the bits `set`.
  static std::string kept_bits(uint32_t kept, uint32_t set) {
    if (kept == 0) return fmt::format("{}u", set);
    std::string text = fmt::format("thread & {}", kept);
    return set == 0 ? text : fmt::format("({}) | {}", text, set);
  }
  std::string lane_number(const std::string& hint, const std::string& expression) {
    e_.thread();
    return e_.at_top("u32", hint, expression);
  }

  Level scan_lanes(Level& level, bool has_lower, const AxisGroup* next) {
    const Arrays& x = level.inclusive;
    uint32_t low = 0;
    for (int b : level.group.bits) {
      uint32_t bit = 1u << b;
      // The last lane of the other half of the block.
      std::string from =
          lane_number("from", kept_bits(kLanes & ~(bit | low), reverse_ ? bit : low));
      std::string up = thread_test("up", bit, reverse_ ? "== 0" : "!= 0");
      std::string text = all([&](size_t k) {
        return fmt::format("const {} {}{} = tw_shfl({}, {});", type(k), other_, k, x.at(k, "i"),
                           from);
      });
      text += fmt::format(" if ({}) ", up) +
              call(
                  join_, [&](size_t k) { return x.at(k, "i"); },
                  [&](size_t k) { return fmt::format("{}{}", other_, k); });
      e_.out.line(for_entries(x.size, block(text)));
      low |= bit;
    }
    if (has_lower) {
      level.exclusive = declare("before", x.size);
      // One step along the bits of the group alone.
      std::string step = reverse_ ? fmt::format("((thread | {}u) + 1) & {}", ~low, low)
                                  : fmt::format("((thread & {}) - 1) & {}", low, low);
      if (low != kLanes) step = fmt::format("({}) | (thread & {})", step, kLanes & ~low);
      shuffle(level.exclusive, x, lane_number("previous", step));
    }
    Level above{{}, level.registers, x, {}};
    if (next == nullptr) return above;
    above.inclusive = declare("total", x.size);
    if (next->holder == Holder::kWarp) {  // only the last lane's will be stored
      copy(above.inclusive, counted(x.size), x, counted(x.size));
    } else {
      shuffle(above.inclusive, x,
              lane_number("last", kept_bits(kLanes & ~low, reverse_ ? 0 : low)));
    }
    return above;
  }

  // ---- over warps: partial results lie at (place outside of the levels so far) * ways + warp ----
  struct Scratch {
    std::string write, read;        // the thread's part of the byte address
    std::vector<uint32_t> offsets;  // by entry
    int64_t bytes = 0;
  };

  // The flat index without the bits of the axis that this level and those below have, and without
  // those of the entries' upper bits from `repeated` on, which take turns.
  uint32_t outside(const Level& level, size_t repeated) const {
    uint32_t gone = 0;
    auto drop = [&](const AxisGroup& group) {
      for (int b : group.bits) {
        auto bit = static_cast<size_t>(b);
        gone |= group.holder == Holder::kRegister ? layout_.reg[bit]
                : group.holder == Holder::kLane   ? layout_.lane[bit]
                                                  : layout_.warp[bit];
      }
    };
    for (const Level& below : levels_) drop(below.group);
    drop(level.group);
    for (size_t b = repeated; b < level.registers.size(); ++b)
      gone |= layout_.reg[static_cast<size_t>(level.registers[b])];
    return ~gone & static_cast<uint32_t>(layout::element_count(layout_.shape) - 1);
  }

  Scratch scratch_of(const Level& level, size_t operand, size_t repeated) {
    const uint32_t kept = outside(level, repeated), ways = 1u << level.group.bits.size();
    auto bytes = static_cast<uint32_t>(e_.module.type(op_.operands[operand]).element_bytes());
    auto columns = [&](std::vector<uint32_t> basis) {
      for (uint32_t& column : basis) {
        uint32_t packed = 0, at = 0;
        for (uint32_t bit = 0; bit < 32; ++bit)
          if (kept >> bit & 1) packed |= (column >> bit & 1) << at++;
        column = packed * ways * bytes;
      }
      return basis;
    };
    Scratch s;
    std::vector<uint32_t> reg = columns(layout_.reg), lane = columns(layout_.lane),
                          warp = columns(layout_.warp);
    s.read = e_.thread_map(lane, warp);
    for (size_t p = 0; p < level.group.bits.size(); ++p)
      warp[static_cast<size_t>(level.group.bits[p])] |= (1u << p) * bytes;
    s.write = e_.thread_map(lane, warp);
    for (uint32_t entry = 0; entry < 1u << repeated; ++entry) {
      uint32_t offset = 0;
      for (size_t b = 0; b < repeated; ++b)
        offset ^= (entry >> b & 1) * reg[static_cast<size_t>(level.registers[b])];
      s.offsets.push_back(offset);
    }
    s.bytes = (int64_t{1} << std::popcount(kept)) * ways * bytes;
    s.bytes = (s.bytes + 15) / 16 * 16;
    return s;
  }

  static std::string place(const std::string& thread, const std::string& offset, int64_t start) {
    std::string text = thread;
    if (offset != "0") text = text.empty() ? offset : "(" + text + " ^ " + paren(offset) + ")";
    if (start != 0)
      text = text.empty() ? std::to_string(start) : fmt::format("{} + {}", text, start);
    return text.empty() ? "0" : text;
  }

  Level scan_warps(Level& level, bool goes_on) {
    const uint32_t entries = level.inclusive.size;
    level.exclusive = declare("before", entries);
    Level above{{}, level.registers, goes_on ? declare("total", entries) : Arrays{}, {}};
    // Upper bits of the entries that take turns, so that the scratch stays small.
    auto together = static_cast<size_t>(std::countr_zero(entries));
    auto scratch = [&] {
      std::vector<Scratch> out;
      for (size_t k = 0; k < arity(); ++k) out.push_back(scratch_of(level, k, together));
      return out;
    };
    auto bytes = [](const std::vector<Scratch>& all) {
      int64_t sum = 0;
      for (const Scratch& s : all) sum += s.bytes;
      return sum;
    };
    std::vector<Scratch> places = scratch();
    while (bytes(places) > kScratchLimit && together > 0) {
      --together;
      places = scratch();
    }
    int64_t start = e_.scratch_start();
    e_.reserve_shared(start + bytes(places), op_.span, "a scan across warps");
    for (uint32_t first = 0; first < entries; first += 1u << together) {
      e_.before_shared_write();
      store_partials(level, places, start, first);
      e_.barrier();
      load_partials(level, above, places, start, first);
      e_.after_shared_read();
    }
    return above;
  }

  void store_partials(const Level& level, const std::vector<Scratch>& places, int64_t start,
                      uint32_t first) {
    layout::ReplicationMask copies = layout::replication_mask(layout_);
    // The last threads of the groups below have the totals; of copies one acts for all.
    uint32_t mask = copies.lane | copies.warp << layout::kLaneBits | passed_;
    std::string guard;
    if (mask != 0)
      guard = fmt::format("if ({}) ",
                          thread_test("holds", mask, fmt::format("== {}", reverse_ ? 0 : passed_)));
    std::vector<uint32_t> own = counted(static_cast<uint32_t>(places[0].offsets.size()));
    for (size_t k = 0; k < arity(); ++k) {
      e_.each({moved(own, first), places[k].offsets}, [&](const std::vector<std::string>& i) {
        return fmt::format("{}tw_shared_store<1>({}, &{});", guard,
                           place(places[k].write, i[1], start), level.inclusive.at(k, i[0]));
      });
      start += places[k].bytes;
    }
  }

  void load_partials(const Level& level, const Level& above, const std::vector<Scratch>& places,
                     int64_t start, uint32_t first) {
    const auto ways = static_cast<uint32_t>(1u << level.group.bits.size());
    std::string where = place_in_group(level.group);
    std::vector<std::vector<uint32_t>> tables = {
        moved(counted(static_cast<uint32_t>(places[0].offsets.size())), first)};
    std::vector<int64_t> starts;
    for (const Scratch& s : places) {
      tables.push_back(s.offsets);
      starts.push_back(start);
      start += s.bytes;
    }
    auto p = [&](size_t k, const std::string& index) {
      return fmt::format("{}{}[{}]", part_, k, index);
    };
    // Position j in the order of the scan, and the one after it.
    std::string here = reverse_ ? fmt::format("{} - j", ways - 1) : "j";
    std::string there = reverse_ ? fmt::format("{} - j", ways - 2) : "j + 1";
    e_.each(tables, [&](const std::vector<std::string>& i) {
      std::string text = all([&](size_t k) {
        int bytes = e_.module.type(op_.operands[k]).element_bytes();
        uint32_t vector = std::min<uint32_t>(ways, 16 / static_cast<uint32_t>(bytes));
        std::string load = fmt::format("{} {}{}[{}];", type(k), part_, k, ways);
        for (uint32_t w = 0; w < ways; w += vector)
          load += fmt::format(" tw_shared_load<{}>({}{}{}, {});", vector, part_, k,
                              w == 0 ? "" : fmt::format(" + {}", w),
                              place(places[k].read, i[k + 1], starts[k] + w * bytes));
        return load + fmt::format(" {} = {};", level.exclusive.at(k, i[0]),
                                  p(k, reverse_ ? std::to_string(ways - 1) : "0"));
      });
      std::string keep = all([&](size_t k) {
        return fmt::format("{} = {};", level.exclusive.at(k, i[0]), p(k, here));
      });
      text += fmt::format(
          " TW_EACH(j, {}) {{ if ({} == j + 1u) {} {} }}", ways - 1, where,
          arity() > 1 ? block(keep) : keep,
          call(
              join_, [&](size_t k) { return p(k, there); }, [&](size_t k) { return p(k, here); }));
      if (!above.inclusive.names.empty())
        text += " " + all([&](size_t k) {
                  return fmt::format("{} = {};", above.inclusive.at(k, i[0]),
                                     p(k, reverse_ ? "0" : std::to_string(ways - 1)));
                });
      return block(text);
    });
  }

  // The warp's position in the order of the scan.
  std::string place_in_group(const AxisGroup& group) {
    std::vector<uint32_t> lane, warp(static_cast<size_t>(e_.warp_bits()));
    for (size_t p = 0; p < group.bits.size(); ++p)
      warp[static_cast<size_t>(group.bits[p])] = 1u << p;
    std::string position = e_.thread_map(lane, warp);
    if (!reverse_) return position;
    return e_.at_top("u32", "place",
                     fmt::format("{} ^ {}", position, (1u << group.bits.size()) - 1));
  }

  // ---- down ----
  void go_down() {
    Before before{{{}, levels_.back().inclusive.size}, {}, 0};
    if (levels_.back().group.holder == Holder::kRegister)
      before.arrays.size = static_cast<uint32_t>(spread(levels_.back()).others.size());
    before.always.assign(before.arrays.size, false);
    for (size_t g = levels_.size(); g-- > 1;)
      before = levels_[g].group.holder == Holder::kRegister ? before_registers(levels_[g], before)
                                                            : before_threads(levels_[g], before);
    finish(before);
  }

  std::string condition(const Before& before) {
    return before.threads == 0 ? "" : behind(before.threads);
  }
  // The entries that always exist, and the others.
  static std::pair<std::vector<uint32_t>, std::vector<uint32_t>> parted(const Before& before) {
    std::pair<std::vector<uint32_t>, std::vector<uint32_t>> out;
    for (uint32_t n = 0; n < before.always.size(); ++n)
      (before.always[n] ? out.first : out.second).push_back(n);
    return out;
  }
  void for_each(const std::vector<std::vector<uint32_t>>& tables, const Emitter::Body& body) {
    if (!tables[0].empty()) e_.each(tables, body);
  }

  // Before position p > 0 of a group of registers stands the inclusive scan up to p - 1.
  Before before_registers(const Level& level, const Before& upper) {
    Spread s = spread(level);
    Before out{declare("ahead", level.inclusive.size), {}, upper.threads};
    out.always.assign(level.inclusive.size, true);
    std::string some = condition(upper);
    for (size_t p = 0; p < s.position.size(); ++p) {
      std::vector<uint32_t> entries = moved(s.others, s.position[p]);
      if (p > 0) {
        copy(out.arrays, entries, level.inclusive, moved(s.others, s.position[p - 1]));
      } else {
        for (size_t n = 0; n < entries.size(); ++n) out.always[entries[n]] = upper.always[n];
        if (!upper.arrays.names.empty())
          copy(out.arrays, entries, upper.arrays, counted(upper.arrays.size));
        continue;
      }
      put_before(out.arrays, entries, upper, counted(static_cast<uint32_t>(entries.size())), some);
    }
    return out;
  }

  // Puts entry sources[n] of `before`, where it exists, in front of entries[n].
  void put_before(const Arrays& to, const std::vector<uint32_t>& entries, const Before& before,
                  const std::vector<uint32_t>& sources, const std::string& some) {
    for (bool always : {true, false}) {
      if (!always && some.empty()) continue;
      std::vector<uint32_t> a, b;
      for (size_t n = 0; n < entries.size(); ++n)
        if (before.always[sources[n]] == always) {
          a.push_back(entries[n]);
          b.push_back(sources[n]);
        }
      for_each({a, b}, [&](const std::vector<std::string>& i) {
        std::string text = join(to, i[0], before.arrays, i[1]);
        return always ? text : fmt::format("if ({}) {}", some, text);
      });
    }
  }

  // Lanes and warps: what stands before the thread within the group goes behind what stands before
  // the group.
  Before before_threads(const Level& level, const Before& upper) {
    uint32_t own = thread_bits(level.group);
    Before out{level.exclusive, upper.always, upper.threads | own};
    if (upper.arrays.names.empty()) return out;
    std::string here = behind(own), some = condition(upper);
    auto [always, rest] = parted(upper);
    auto take = [&](const std::string& i) {
      std::string text = all([&](size_t k) {
        return fmt::format("{} = {};", level.exclusive.at(k, i), upper.arrays.at(k, i));
      });
      return arity() > 1 ? block(text) : text;
    };
    for_each({always}, [&](const std::vector<std::string>& i) {
      return fmt::format("if ({}) {} else {}", here,
                         join(level.exclusive, i[0], upper.arrays, i[0]), take(i[0]));
    });
    if (!some.empty())
      for_each({rest}, [&](const std::vector<std::string>& i) {
        return fmt::format("if ({}) {{ if ({}) {} else {} }}", some, here,
                           join(level.exclusive, i[0], upper.arrays, i[0]), take(i[0]));
      });
    return out;
  }

  void finish(const Before& before) {
    if (before.arrays.names.empty()) return;
    const Level& lowest = levels_[0];
    std::vector<uint32_t> entries, sources;
    if (lowest.group.holder == Holder::kRegister) {
      Spread s = spread(lowest);
      for (uint32_t position : s.position)
        for (size_t n = 0; n < s.others.size(); ++n) {
          entries.push_back(s.others[n] ^ position);
          sources.push_back(static_cast<uint32_t>(n));
        }
      // In the order of the entries, for short texts.
      std::vector<uint32_t> source_of(entries.size());
      for (size_t n = 0; n < entries.size(); ++n) source_of[entries[n]] = sources[n];
      entries = counted(static_cast<uint32_t>(entries.size()));
      sources = source_of;
    } else {
      entries = sources = counted(lowest.inclusive.size);
    }
    put_before(lowest.inclusive, entries, before, sources, condition(before));
  }

  void define_results() {
    for (size_t k = 0; k < arity(); ++k) {
      ValueId result = op_.results[k];
      View view{.type = e_.module.type(result), .layout = layout_, .name = elements_.names[k]};
      view.is_array = elements_.size > 1;
      for (uint32_t b = 1; b < elements_.size; b *= 2) view.columns.push_back(b);
      e_.define(result, e_.convert(view, e_.layout_of(result), elements_.names[k]));
    }
  }

  Emitter& e_;
  ir::OpId id_;
  const OpNode& op_;
  int axis_;
  bool reverse_;
  layout::LinearLayout layout_;
  std::string fold_, join_, other_, part_;  // lambdas; local variables of blocks
  Arrays elements_;
  std::vector<Level> levels_;  // done on the way up
  uint32_t passed_ = 0;        // thread bits of those
};

}  // namespace

void emit_Scan(Emitter& e, ir::OpId id) {
  Scan(e, id).run();
}

}  // namespace tilewright::cuda
