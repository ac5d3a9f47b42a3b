// Executes a conversion plan on numbers: every thread's registers hold the index of the element
// they stand for, and after the plan they must hold the index that the result layout asks for.
#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <map>
#include <random>

#include "codegen/layout/conversion.h"

namespace tilewright::layout {

constexpr uint32_t kNothing = 0xffffffff;

class Simulation {
 public:
  Simulation(const LinearLayout& from, const LinearLayout& to, int element_bytes)
      : from_(from), to_(to), bytes_(element_bytes), threads_(32 * from.warps()) {}

  // True if the plan gives every register of `to` its element.
  testing::AssertionResult run(const Conversion& plan) {
    std::vector<std::vector<uint32_t>> held(threads_), result(threads_);
    for (int t = 0; t < threads_; ++t)
      for (int r = 0; r < from_.registers(); ++r)
        held[t].push_back(from_.element(r, t % 32, t / 32));
    std::vector<std::vector<uint32_t>> moved = held;
    if (plan.kind == Conversion::Kind::kShuffles) moved = shuffle(plan.shuffles, held);
    if (plan.kind == Conversion::Kind::kShared) moved = through_shared(plan.shared, held);
    if (!error_.empty()) return testing::AssertionFailure() << error_;
    for (int t = 0; t < threads_; ++t)
      for (int r = 0; r < to_.registers(); ++r) {
        int source = plan.kind == Conversion::Kind::kNone ? r : plan.source.at(r);
        uint32_t got = moved[t].at(source), want = to_.element(r, t % 32, t / 32);
        if (got != want)
          return testing::AssertionFailure()
                 << "thread " << t << " register " << r << " holds " << got << ", wants " << want;
      }
    return testing::AssertionSuccess();
  }

 private:
  using Registers = std::vector<std::vector<uint32_t>>;

  static uint32_t image(const std::vector<uint32_t>& columns, uint32_t x) {
    uint32_t y = 0;
    for (size_t i = 0; i < columns.size(); ++i)
      if (x >> i & 1) y ^= columns[i];
    return y;
  }

  static void exchange(const std::vector<Conversion::Exchange>& exchanges, Registers& registers) {
    for (const auto& e : exchanges)
      for (size_t t = 0; t < registers.size(); ++t) {
        if (std::popcount(t & e.thread_mask) % 2 == 0) continue;
        auto copy = registers[t];
        for (size_t r = 0; r < copy.size(); ++r) registers[t][r] = copy.at(r ^ e.register_xor);
      }
  }

  Registers shuffle(const Conversion::Shuffles& plan, Registers held) {
    exchange(plan.before, held);
    Registers received(threads_);
    for (int t = 0; t < threads_; ++t)
      for (size_t k = 0; k < plan.source_register.size(); ++k) {
        uint32_t lane = image(plan.lane_columns, t) ^ plan.lane_xor[k];
        if (lane >= 32) return fail("shuffle from lane " + std::to_string(lane));
        if (plan.stays_in_lane() && plan.lane_xor[k] == 0 && lane != uint32_t(t) % 32)
          return fail("stays_in_lane is wrong");
        received[t].push_back(held[t / 32 * 32 + lane].at(plan.source_register[k]));
      }
    exchange(plan.after, received);
    return received;
  }

  Registers fail(std::string message) {
    if (error_.empty()) error_ = std::move(message);
    return Registers(threads_, std::vector<uint32_t>(1 << 16, kNothing));
  }

  Registers through_shared(const Conversion::Shared& plan, const Registers& held) {
    Registers loaded(threads_, std::vector<uint32_t>(to_.registers(), kNothing));
    if (plan.store.accesses() % plan.repeats || plan.load.accesses() % plan.repeats)
      return fail("repeats do not divide the accesses");
    for (int turn = 0; turn < plan.repeats; ++turn) {
      std::vector<uint32_t> memory(plan.bytes, kNothing);
      store(plan, turn, held, memory);
      for (int t = 0; t < threads_ && error_.empty(); ++t) load(plan, turn, t, memory, loaded);
    }
    return loaded;
  }

  // The address of access k by thread t, checked.
  uint32_t address(const SharedAccess& access, int k, int t, int size, int64_t limit) {
    uint32_t a = image(access.lane, t % 32) ^ image(access.warp, t / 32) ^ access.offsets.at(k);
    if (a % size != 0) fail("misaligned access at " + std::to_string(a));
    if (a + size > limit) fail("access beyond the buffer at " + std::to_string(a));
    return error_.empty() ? a : 0;
  }

  static std::pair<int, int> turn_range(const SharedAccess& access, int turn, int repeats) {
    int n = access.accesses() / repeats;
    return {turn * n, (turn + 1) * n};
  }

  void store(const Conversion::Shared& plan, int turn, const Registers& held,
             std::vector<uint32_t>& memory) {
    const SharedAccess& access = plan.store;
    auto [begin, end] = turn_range(access, turn, plan.repeats);
    for (int t = 0; t < threads_; ++t) {
      bool copy = (t % 32 & access.copy_lanes) || (t / 32 & access.copy_warps);
      for (int k = begin; k < end; ++k) {
        uint32_t a = address(access, k, t, access.vector * bytes_, plan.bytes);
        for (int v = 0; v < access.vector && error_.empty(); ++v) {
          uint32_t value = held[t].at(access.registers.at(k * access.vector + v));
          uint32_t& cell = memory[a + v * bytes_];
          if (cell != kNothing && cell != value) fail("two elements in one place");
          if (cell == kNothing && copy) continue;  // holders of copies take no part
          if (cell == value && !copy) fail("an element is stored twice");
          cell = value;
        }
      }
    }
  }

  void load(const Conversion::Shared& plan, int turn, int t, const std::vector<uint32_t>& memory,
            Registers& loaded) {
    const SharedAccess& access = plan.load;
    auto [begin, end] = turn_range(access, turn, plan.repeats);
    for (int k = begin; k < end && error_.empty(); ++k)
      for (int v = 0; v < access.vector; ++v) {
        uint32_t value;
        if (access.kind == SharedAccess::Kind::kVector) {
          uint32_t a = address(access, k, t, access.vector * bytes_, plan.bytes);
          value = memory[a + v * bytes_];
        } else {
          // Word v/packed, as the PTX ISA has it: thread t gets word t%4 of row t/4; transposed,
          // its 16-bit halves are the 16 bits t/4 of rows 2*(t%4)+{0,1}. Row i of matrix j is at
          // the address given by lane 8*j + i.
          bool transposed = access.kind == SharedAccess::Kind::kLdmatrixTrans;
          int lane = t % 32, packed = 4 / bytes_, row = lane / 4;
          int column = packed * (lane % 4) + v % packed;
          if (transposed) {
            int in_half = packed / 2;  // elements in 16 bits
            column = in_half * (lane / 4) + v % in_half;
            row = 2 * (lane % 4) + v % packed / in_half;
          }
          int giver = t / 32 * 32 + 8 * (v / packed) + row;
          value = memory[address(access, k, giver, 16, plan.bytes) + column * bytes_];
        }
        loaded[t].at(access.registers.at(k * access.vector + v)) = value;
      }
  }

  const LinearLayout& from_;
  const LinearLayout& to_;
  int bytes_;
  int threads_;
  std::string error_;
};

}  // namespace tilewright::layout
