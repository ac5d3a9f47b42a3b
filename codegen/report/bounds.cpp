#include "codegen/report/bounds.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tilewright::report {
namespace {

using cuda::sass::Class;

// From the SM, roughly (performance of the cards at hand varies by a third): a byte from DRAM, and
// one that L2 has.
constexpr double kDramNanoseconds = 400, kL2Nanoseconds = 200;
constexpr int kLanes = 32;

double clocks_a_second(const Card& card) {
  return card.boost_mhz * 1e6;
}

class Finder {
 public:
  explicit Finder(const BoundInput& input) : in_(input) {
    dots();
    if (in_.code) instructions(*in_.code);
    memory();
    latency();
    std::stable_sort(out_.begin(), out_.end(),
                     [](const Bound& a, const Bound& b) { return a.clocks > b.clocks; });
  }
  std::vector<Bound> take() { return std::move(out_); }

 private:
  void add(const char* name, double clocks, std::string how) {
    if (clocks > 0) out_.push_back({name, clocks, std::move(how)});
  }

  void dots() {
    for (const DotWork& dot : in_.work.dot_work) {
      int rate = rate_of(in_.card.rates, dot.math) * dot.speed;
      if (rate == 0) continue;
      std::string passes = dot.passes > 1 ? fmt::format(" x {} passes", dot.passes) : "";
      add(dot.math == Math::kFma ? "fma" : "tensor",
          static_cast<double>(dot.operations) * dot.passes / rate,
          fmt::format("{} operations{} / {} ({}{})", dot.operations, passes, rate,
                      math_name(dot.math), dot.speed > 1 ? ", sparse" : ""));
    }
  }

  void instructions(const cuda::sass::Mix& code) {
    const Rates& rates = in_.card.rates;
    const double warps = static_cast<double>(in_.warps) / in_.steps;
    const std::string per = in_.steps > 1 ? fmt::format(" / {} steps", in_.steps) : "";
    add("issue", code.total * warps / rates.issue,
        fmt::format("{} instructions x {} warps / {}{}", code.total, in_.warps, rates.issue, per));
    int floats = code[Class::kFloat] + code[Class::kHalf];
    // Lanes, not operations: additions take a lane as multiply-adds do.
    add("fma", floats * warps * kLanes / (rates.fma_f32 / 2.0),
        fmt::format("{} instructions x {} warps x 32 / {} lanes{}", floats, in_.warps,
                    rates.fma_f32 / 2, per));
    int special = code[Class::kSpecial];
    add("special", special * warps * kLanes / rates.special,
        fmt::format("{} instructions x {} warps x 32 / {} lanes{}", special, in_.warps,
                    rates.special, per));
    int64_t shared = code.shared_read + code.shared_written;
    add("shared", static_cast<double>(shared) * warps / rates.shared_bytes,
        fmt::format("{} bytes x {} warps / {}{}", shared, in_.warps, rates.shared_bytes, per));
  }

  void memory() {
    const Card& card = in_.card;
    const Work& work = in_.work;
    add("L2", static_cast<double>(work.bytes()) / card.rates.l2_bytes,
        fmt::format("{} bytes / {}", work.bytes(), card.rates.l2_bytes));
    // Programs that run together lie in a square of tiles; those of a row share one operand, those
    // of a column the other.
    double wave = std::max(1, in_.resident) * card.sms;
    double rows = std::max(1.0, std::floor(std::sqrt(wave))), columns = wave / rows;
    int64_t shared = work.shared_by_row + work.shared_by_column;
    double own = static_cast<double>(work.bytes() - shared) +
                 static_cast<double>(work.shared_by_row) / columns +
                 static_cast<double>(work.shared_by_column) / rows;
    double rate = card.dram_gbps * 1e9 / card.sms / clocks_a_second(card);
    std::string waves = shared > 0
                            ? fmt::format(" (a wave of {:.0f} x {:.0f} tiles shares {} of {})",
                                          rows, columns, shared, work.bytes())
                            : "";
    add("DRAM", own / rate,
        fmt::format("{:.0f} bytes{} / {:.2f} ({:.0f} GB/s)", own, waves, rate, card.dram_gbps));
  }

  void latency() {
    if (in_.work.loads == 0) return;
    bool from_l2 = in_.work.shared_by_row + in_.work.shared_by_column > 0;
    double ns = from_l2 ? kL2Nanoseconds : kDramNanoseconds;
    int together = std::max(1, in_.resident) * std::max(1, in_.steps_in_flight);
    add("latency", ns * 1e-9 * clocks_a_second(in_.card) / together,
        fmt::format("{:.0f} ns x {} MHz / ({} programs x {} steps in flight)", ns,
                    in_.card.boost_mhz, std::max(1, in_.resident),
                    std::max(1, in_.steps_in_flight)));
  }

  const BoundInput& in_;
  std::vector<Bound> out_;
};

}  // namespace

std::vector<Bound> find_bounds(const BoundInput& input) {
  return Finder(input).take();
}

double at_most(const Card& card, double amount, double clocks) {
  return clocks > 0 ? amount / clocks * card.sms * clocks_a_second(card) : 0;
}

}  // namespace tilewright::report
