// Chooses between renaming, shuffles and shared memory. The shared-memory plan is in swizzle.cpp.
//
// Shuffles. Let `from` hold element(r', l', w) and `to` ask for register i of thread t = (l, w).
// Within a warp, the element is found at source lane L_i(i) + L_t(t) and register R_i(i) + R_t(t),
// all linear. A shuffle delivers one register of the source lane, chosen by the source alone. So
// the registers are received in an order that depends on the receiving thread, i = k + A(t), with A
// such that in each round k distinct registers are asked from distinct lanes: with M = L_t + L_i A
// and N = R_t + R_i A, the source register must be a function of the source thread, N = B(M, warp).
// The source permutes its registers by B before the shuffles, the receiver by A after them.
#include "codegen/layout/conversion.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <set>

#include "codegen/layout/f2.h"
#include "codegen/layout/swizzle.h"
#include "dsl/base/check.h"

namespace tilewright::layout {
namespace {

bool same_threads(const LinearLayout& from, const LinearLayout& to) {
  return from.lane == to.lane && from.warp == to.warp;
}

// Renaming: the result's registers are combinations of the operand's.
std::optional<Conversion> plan_registers(const LinearLayout& from, const LinearLayout& to) {
  if (!same_threads(from, to)) return std::nullopt;
  f2::Solver solver(from.reg);
  Conversion plan;
  plan.kind = Conversion::Kind::kRegisters;
  for (int r = 0; r < to.registers(); ++r) {
    auto source = solver.solve(f2::apply(to.reg, r));
    if (!source) return std::nullopt;
    plan.source.push_back(static_cast<int>(*source));
  }
  return plan;
}

// Where a result's bits are found within the warp: matrices into source lane and register numbers.
struct SourceMap {
  f2::Matrix lane_of_register, register_of_register;  // L_i, R_i
  f2::Matrix lane_of_thread, register_of_thread;      // L_t, R_t
};

std::optional<SourceMap> find_sources(const LinearLayout& from, const LinearLayout& to) {
  f2::Matrix columns = from.reg;
  columns.insert(columns.end(), from.lane.begin(), from.lane.end());
  f2::Solver solver(columns);
  uint32_t register_mask = (1u << from.reg.size()) - 1;
  SourceMap map;
  auto find = [&](uint32_t element, f2::Matrix& lanes, f2::Matrix& registers) {
    auto x = solver.solve(element);
    if (!x) return false;
    lanes.push_back(*x >> from.reg.size());
    registers.push_back(*x & register_mask);
    return true;
  };
  for (uint32_t basis : to.reg)
    if (!find(basis, map.lane_of_register, map.register_of_register)) return std::nullopt;
  for (size_t j = 0; j < to.lane.size(); ++j) {
    if (from.lane[j] == to.lane[j]) {  // stay in place, copies too
      map.lane_of_thread.push_back(1u << j);
      map.register_of_thread.push_back(0);
    } else if (!find(to.lane[j], map.lane_of_thread, map.register_of_thread)) {
      return std::nullopt;
    } else if (from.lane[j] == 0) {
      map.lane_of_thread.back() |= 1u << j;  // the copy in the own half serves as well
    }
  }
  for (size_t j = 0; j < to.warp.size(); ++j)
    if (!find(to.warp[j] ^ from.warp[j], map.lane_of_thread, map.register_of_thread))
      return std::nullopt;
  return map;
}

// Bit q of columns[j], for all j, as a mask over j: row q of the matrix.
uint32_t row_mask(const f2::Matrix& columns, int q) {
  uint32_t mask = 0;
  for (size_t j = 0; j < columns.size(); ++j) mask |= (columns[j] >> q & 1) << j;
  return mask;
}

// Writes a linear map from threads to registers as exchanges, one for each dimension of its image.
std::vector<Conversion::Exchange> exchanges_of(const f2::Matrix& registers_of_thread) {
  std::vector<Conversion::Exchange> result;
  f2::Matrix image;
  f2::Span span;
  for (uint32_t column : registers_of_thread)
    if (span.insert(column)) image.push_back(column);
  f2::Solver solver(image);
  f2::Matrix coordinates;
  for (uint32_t column : registers_of_thread) coordinates.push_back(*solver.solve(column));
  for (size_t q = 0; q < image.size(); ++q)
    result.push_back({row_mask(coordinates, static_cast<int>(q)), image[q]});
  return result;
}

// A: chosen so that lanes which ask the same lane for different registers do so in different
// rounds. nullopt if there is no such A among maps onto single register bits.
std::optional<f2::Matrix> choose_round_order(const SourceMap& map) {
  f2::Matrix lanes(map.lane_of_thread.begin(), map.lane_of_thread.begin() + kLaneBits);
  f2::Matrix harmful;  // kernel of L_t on lanes: those that need another register first
  f2::Span harm;
  f2::Matrix harmless;
  for (uint32_t v : f2::kernel(lanes)) {
    uint32_t registers = f2::apply(map.register_of_thread, v);
    if (harm.insert(registers)) {
      harmful.push_back(v);
      continue;
    }
    // Subtract harmful vectors with the same image; what is left asks for one and the same
    // register.
    f2::Matrix images;
    for (uint32_t h : harmful) images.push_back(f2::apply(map.register_of_thread, h));
    harmless.push_back(v ^ f2::apply(harmful, *f2::Solver(images).solve(registers)));
  }
  f2::Matrix order(map.lane_of_thread.size(), 0);
  if (harmful.empty()) return order;

  f2::Span reached(lanes);
  f2::Matrix rounds;  // the register bit for each harmful vector
  for (size_t i = 0; i < map.lane_of_register.size() && rounds.size() < harmful.size(); ++i)
    if (reached.insert(map.lane_of_register[i])) rounds.push_back(1u << i);
  if (rounds.size() < harmful.size()) return std::nullopt;

  f2::Matrix basis = harmful;
  basis.insert(basis.end(), harmless.begin(), harmless.end());
  f2::Span span(basis);
  for (int j = 0; j < kLaneBits; ++j)
    if (span.insert(1u << j)) basis.push_back(1u << j);
  f2::Matrix coordinates = *f2::inverse(basis);
  for (int j = 0; j < kLaneBits; ++j)
    for (size_t q = 0; q < harmful.size(); ++q)
      if (coordinates[j] >> q & 1) order[j] ^= rounds[q];
  return order;
}

// B with B(M(t), warp of t) = N(t), zero on what no thread asks. `source_thread` is (M, warp).
std::optional<f2::Matrix> choose_source_order(const f2::Matrix& source_thread,
                                              const f2::Matrix& registers) {
  for (uint32_t v : f2::kernel(source_thread))
    if (f2::apply(registers, v) != 0) return std::nullopt;
  f2::Matrix basis, image;  // independent source threads and what they must deliver
  f2::Span span;
  for (size_t j = 0; j < source_thread.size(); ++j)
    if (span.insert(source_thread[j])) {
      basis.push_back(source_thread[j]);
      image.push_back(registers[j]);
    }
  for (size_t j = 0; j < source_thread.size(); ++j)
    if (span.insert(1u << j)) {
      basis.push_back(1u << j);
      image.push_back(0);
    }
  return f2::multiply(image, *f2::inverse(basis));
}

std::optional<Conversion> plan_shuffles(const LinearLayout& from, const LinearLayout& to) {
  LinearLayout distinct = to;  // without registers that repeat others
  f2::Span span;
  std::vector<uint32_t> kept;
  distinct.reg.clear();
  for (size_t i = 0; i < to.reg.size(); ++i)
    if (span.insert(to.reg[i])) {
      distinct.reg.push_back(to.reg[i]);
      kept.push_back(1u << i);
    }
  auto map = find_sources(from, distinct);
  if (!map) return std::nullopt;
  auto after = choose_round_order(*map);
  if (!after) return std::nullopt;

  size_t thread_bits = map->lane_of_thread.size();
  f2::Matrix source_thread(thread_bits), registers(thread_bits), lane_columns(thread_bits);
  for (size_t j = 0; j < thread_bits; ++j) {
    uint32_t rounds = (*after)[j];
    lane_columns[j] = map->lane_of_thread[j] ^ f2::apply(map->lane_of_register, rounds);
    registers[j] = map->register_of_thread[j] ^ f2::apply(map->register_of_register, rounds);
    source_thread[j] = lane_columns[j] | (j >= kLaneBits ? 1u << j : 0u);
  }
  auto before = choose_source_order(source_thread, registers);
  if (!before) return std::nullopt;

  Conversion plan;
  plan.kind = Conversion::Kind::kShuffles;
  plan.shuffles.before = exchanges_of(*before);
  plan.shuffles.after = exchanges_of(*after);
  plan.shuffles.lane_columns = lane_columns;
  for (int k = 0; k < distinct.registers(); ++k) {
    uint32_t lane = f2::apply(map->lane_of_register, k);
    plan.shuffles.lane_xor.push_back(lane);
    plan.shuffles.source_register.push_back(
        static_cast<int>(f2::apply(*before, lane) ^ f2::apply(map->register_of_register, k)));
  }
  f2::Solver solver(distinct.reg);
  for (int r = 0; r < to.registers(); ++r)
    plan.source.push_back(static_cast<int>(*solver.solve(f2::apply(to.reg, r))));
  return plan;
}

}  // namespace

std::vector<int> primary_registers(const LinearLayout& layout) {
  f2::Solver solver(layout.reg);
  std::vector<int> primary;
  for (int r = 0; r < layout.registers(); ++r)
    primary.push_back(static_cast<int>(*solver.solve(f2::apply(layout.reg, r))));
  return primary;
}

bool Conversion::Shuffles::stays_in_lane() const {
  for (size_t i = 0; i < lane_columns.size(); ++i)
    if (lane_columns[i] != (i < kLaneBits ? 1u << i : 0u)) return false;
  return true;
}

Conversion plan_conversion(const LinearLayout& from, const LinearLayout& to, int element_bytes,
                           const ConversionOptions& options) {
  TW_CHECK(from.shape == to.shape,
           "conversion between shapes: " + to_string(from) + " to " + to_string(to));
  TW_CHECK(from.warp.size() == to.warp.size(), "conversion between numbers of warps");
  if (from == to) return {};
  if (auto plan = plan_registers(from, to)) return *plan;
  Conversion shared;
  shared.kind = Conversion::Kind::kShared;
  shared.shared = plan_shared(from, to, element_bytes, options);
  shared.source = primary_registers(to);
  auto shuffles = plan_shuffles(from, to);
  if (shuffles &&
      conversion_cost(*shuffles, element_bytes) <= conversion_cost(shared, element_bytes))
    return *shuffles;
  return shared;
}

namespace {

// Selects for exchanges of which only the registers `needed` matter in the end.
int64_t count_selects(const std::vector<Conversion::Exchange>& exchanges, std::set<int> needed) {
  int64_t count = 0;
  for (auto e = exchanges.rbegin(); e != exchanges.rend(); ++e) {
    count += static_cast<int64_t>(needed.size());
    std::set<int> partners;
    for (int r : needed) partners.insert(r ^ static_cast<int>(e->register_xor));
    needed.merge(partners);
  }
  return count;
}

}  // namespace

// Figures: a shuffle moves 128 bytes a cycle and SM, as shared memory does, and both share the
// pipe; four selects issue in that time. A barrier drains the block, so it weighs as some dozens.
int64_t conversion_cost(const Conversion& conversion, int element_bytes) {
  constexpr int64_t kShuffleCost = 4, kSelectCost = 1, kWavefrontCost = 4, kIssueCost = 1,
                    kBarrierCost = 100;
  int64_t words = std::max(1, element_bytes / 4);
  switch (conversion.kind) {
    case Conversion::Kind::kNone:
    case Conversion::Kind::kRegisters:
      return 0;
    case Conversion::Kind::kShuffles: {
      const auto& s = conversion.shuffles;
      std::vector<int> all(s.lane_xor.size());
      std::iota(all.begin(), all.end(), 0);
      int64_t shuffled = 0;
      for (uint32_t lane : s.lane_xor) shuffled += lane != 0 || !s.stays_in_lane();
      return words * (kShuffleCost * shuffled +
                      kSelectCost * (count_selects(s.before, {s.source_register.begin(),
                                                              s.source_register.end()}) +
                                     count_selects(s.after, {all.begin(), all.end()})));
    }
    case Conversion::Kind::kShared: {
      const auto& s = conversion.shared;
      return kWavefrontCost * (count_wavefronts(s.store, element_bytes).actual +
                               count_wavefronts(s.load, element_bytes).actual) +
             kIssueCost * (s.store.accesses() + s.load.accesses()) + 2 * s.repeats * kBarrierCost;
    }
  }
  return 0;
}

}  // namespace tilewright::layout
