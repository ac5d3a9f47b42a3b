// The report as text.
#include <fmt/format.h>

#include "codegen/report/report.h"

namespace tilewright::report {
namespace {

using cuda::sass::Class;

constexpr size_t kShownSpills = 5;

void line(std::string& out, std::string_view key, const std::string& value) {
  out += fmt::format("{:<18} {}\n", key, value);
}

std::string lines_of(const Part& part) {
  if (part.from.line == 0) return "";
  if (part.from.line == part.to.line) return fmt::format(" {}:{}", part.from.path, part.from.line);
  return fmt::format(" {}:{}-{}", part.from.path, part.from.line, part.to.line);
}

std::string mix_text(const cuda::sass::Mix& mix) {
  std::string out = fmt::format("{} instructions a warp:", mix.total);
  for (int c = 0; c < cuda::sass::kClasses; ++c) {
    int count = mix.by_class[static_cast<size_t>(c)];
    if (count > 0)
      out += fmt::format(" {} {} ({:.1f} %),", cuda::sass::class_name(static_cast<Class>(c)), count,
                         100.0 * count / mix.total);
  }
  if (out.ends_with(",")) out.pop_back();
  return out;
}

std::string names_text(const cuda::sass::Mix& mix) {
  std::string out;
  for (auto& [name, count] : mix.by_name) out += fmt::format(" {}:{}", name, count);
  return out.empty() ? out : out.substr(1);
}

std::string work_text(const Part& part) {
  const Work& work = part.work;
  std::string out = fmt::format("{} bytes loaded by {} loads, {} stored by {} stores", work.loaded,
                                work.loads, work.stored, work.stores + work.atomics);
  for (const DotWork& dot : work.dot_work)
    out += fmt::format(", {} operations of dots ({})", dot.operations, math_name(dot.math));
  if (work.elementwise > 0) out += fmt::format(", {} of other floats", work.elementwise);
  return out;
}

// "165.2 TFLOP/s" or "1.01 TB/s".
std::string ceiling_text(const Report& report, const Part& part) {
  const Work& work = part.work;
  double clocks = part.bounds.front().clocks;
  if (work.dots == 0)
    return fmt::format("at most {:.0f} GB/s",
                       at_most(*report.card, static_cast<double>(work.bytes()), clocks) * 1e-9);
  int64_t operations = 0;
  for (const DotWork& dot : work.dot_work) operations += dot.operations;
  double best = 0;  // of the dots alone
  for (const Bound& bound : part.bounds)
    if (bound.name == "tensor" || (best == 0 && bound.name == "fma")) best += bound.clocks;
  return fmt::format("at most {:.1f} TFLOP/s, {:.0f} % of what the dots alone would allow",
                     at_most(*report.card, static_cast<double>(operations), clocks) * 1e-12,
                     100.0 * std::min(1.0, best / clocks));
}

void add_part(std::string& out, const Report& report, const Part& part, int number) {
  if (part.work.bytes() == 0 && part.work.operations() == 0) return;
  std::string steps = part.work.steps ? fmt::format(", {} steps", *part.work.steps) : "";
  out += part.work.is_loop ? fmt::format("loop {}{}{}\n", number, lines_of(part), steps)
                           : fmt::format("outside of loops\n");
  line(out, part.work.is_loop ? "  a step" : "  a program", work_text(part));
  std::string_view schedule = part.schedule_text;
  while (!schedule.empty()) {
    size_t end = std::min(schedule.find('\n'), schedule.size());
    line(out, part.schedule_text.data() == schedule.data() ? "  schedule" : "",
         std::string(schedule.substr(0, end)));
    schedule.remove_prefix(std::min(schedule.size(), end + 1));
  }
  line(out, "  intensity",
       fmt::format("{:.1f} operations a byte of global memory", part.intensity()));
  if (part.work.is_loop && part.code.empty())
    line(out, "  machine code", "no loop of its own (unrolled, or merged with another)");
  for (size_t i = 0; i < part.code.size(); ++i) {
    const cuda::sass::Loop& loop = part.code[i];
    std::string conditional =
        loop.conditional > 0 ? fmt::format("; {} of them not in every step", loop.conditional) : "";
    std::string turn =
        i == 0 && part.steps_a_turn > 1 ? fmt::format("; does {} steps", part.steps_a_turn) : "";
    line(out, i == 0 ? "  machine code" : "  a copy of it",
         mix_text(loop.mix) + conditional + turn);
    if (i == 0) line(out, "", names_text(loop.mix));
  }
  if (part.bounds.empty()) return;
  line(out, "  clocks", "of one SM, for one program");
  for (const Bound& bound : part.bounds)
    line(out, "    " + bound.name, fmt::format("{:>9.1f}  {}", bound.clocks, bound.how));
  if (part.work.bytes() > 0 || part.work.dots > 0)
    line(out, "  bound",
         fmt::format("{}: {}", part.bounds.front().name, ceiling_text(report, part)));
}

}  // namespace

std::string to_text(const Report& report) {
  const cuda::Resources& r = report.resources;
  const Card& card = *report.card;
  std::string out;
  line(out, "kernel", report.kernel);
  line(out, "target",
       fmt::format("{}, judged as {} ({} SM, {} MHz, {:.0f} GB/s, {} MiB of L2)",
                   report.target->name, card.name, card.sms, card.boost_mhz, card.dram_gbps,
                   card.l2_mib));
  line(out, "launch",
       fmt::format("{} threads ({} warps), {} stages", report.threads, report.threads / 32,
                   report.num_stages));
  line(out, "registers", fmt::format("{}", r.registers));
  line(out, "spill instructions", fmt::format("{}", r.spill_instructions));
  for (size_t i = 0; i < std::min(kShownSpills, report.spills.size()); ++i) {
    const SpillLine& spill = report.spills[i];
    line(out, "",
         spill.at.line == 0
             ? fmt::format("{} at lines not known", spill.instructions)
             : fmt::format("{} at {}:{}", spill.instructions, spill.at.path, spill.at.line));
  }
  line(out, "stack bytes", fmt::format("{}", r.stack_bytes));
  line(out, "shared bytes",
       fmt::format("{} of {}", r.shared_bytes, report.target->shared_per_block));
  line(out, "code bytes", fmt::format("{}", r.code_bytes));
  line(
      out, "occupancy",
      fmt::format("{} programs, {} warps an SM ({:.0f} %), bound by {}", report.occupancy.blocks,
                  report.occupancy.warps, 100 * report.occupancy.fraction, report.occupancy.bound));
  line(out, "instructions", names_text(report.mix));
  for (const std::string& note : report.notes) line(out, "note", note);
  int number = 0;
  for (const Part& part : report.parts)
    add_part(out, report, part, part.work.is_loop ? ++number : 0);
  for (const Phase& phase : report.phases)
    line(out, "time " + phase.name, fmt::format("{:.1f} ms", phase.milliseconds));
  return out;
}

}  // namespace tilewright::report
