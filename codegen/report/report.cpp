#include "codegen/report/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "codegen/cuda/line_table.h"

namespace tilewright::report {
namespace {

using cuda::LineRow;
using cuda::sass::Class;
using cuda::sass::Instruction;
using cuda::sass::Loop;

Place place_of(const SourceMap& sources, Span span) {
  if (!span.valid()) return {};
  const SourceFile& file = sources.file(span.file);
  return {file.path(), static_cast<int>(file.locate(span.begin).line)};
}

// Whether a path of #line is that file: paths there may have been made absolute.
bool is_file(const std::string& path, const std::string& file) {
  return !file.empty() && path.ends_with(file);
}

// The lines between the first and the last op of a part, in the file of the loop itself; helpers
// that were inlined lie elsewhere.
void set_lines(Part& part, const SourceMap& sources) {
  std::vector<Span> spans = part.work.ops;
  if (part.work.is_loop) spans.push_back(part.work.span);
  Place anchor = place_of(sources, part.work.is_loop || spans.empty() ? part.work.span : spans[0]);
  part.from = part.to = anchor;
  for (Span span : spans) {
    Place at = place_of(sources, span);
    if (at.line == 0 || at.path != anchor.path) continue;
    bool outside = part.work.is_loop && at.line < anchor.line;  // a helper defined above
    if (outside) continue;
    part.from.line = std::min(part.from.line, at.line);
    part.to.line = std::max(part.to.line, at.line);
  }
}

// How many of a loop's instructions lie on lines of the part, or of helpers that it calls.
int shared_instructions(const Part& part, const Loop& loop, const std::vector<Instruction>& code,
                        const std::vector<LineRow>& lines, const SourceMap& sources) {
  std::vector<Place> helpers;
  for (Span span : part.work.ops)
    if (Place at = place_of(sources, span); at.line > 0) helpers.push_back(std::move(at));
  int count = 0;
  for (int index : loop.instructions) {
    const LineRow* row = line_at(lines, code[static_cast<size_t>(index)].offset);
    if (row == nullptr) continue;
    bool own = is_file(row->file, part.from.path) && row->line >= part.from.line &&
               row->line <= part.to.line;
    count += own || std::ranges::any_of(helpers, [&](const Place& at) {
               return row->line == at.line && is_file(row->file, at.path);
             });
  }
  return count;
}

// Gives every innermost machine loop to the part whose lines it holds most of. Without line
// information loops are taken in order if there are as many as parts.
void match_loops(std::vector<Part>& parts, const std::vector<Instruction>& code,
                 const std::vector<LineRow>& lines, const SourceMap& sources) {
  std::vector<Loop> loops = cuda::sass::find_loops(code);
  std::erase_if(loops, [](const Loop& loop) { return !loop.innermost; });
  std::vector<Part*> targets;
  for (Part& part : parts)
    if (part.work.is_loop) targets.push_back(&part);
  if (lines.empty()) {
    if (loops.size() != targets.size()) return;
    for (size_t i = 0; i < loops.size(); ++i) targets[i]->code.push_back(std::move(loops[i]));
    return;
  }
  for (Loop& loop : loops) {
    Part* best = nullptr;
    int most = 0;
    for (Part* part : targets)
      if (int count = shared_instructions(*part, loop, code, lines, sources); count > most)
        best = part, most = count;
    // Loops of helpers (a compare-and-swap, a division) have few instructions on its lines.
    if (best && 2 * most > static_cast<int>(loop.instructions.size()))
      best->code.push_back(std::move(loop));
  }
  for (Part* part : targets)
    std::stable_sort(part->code.begin(), part->code.end(), [](const Loop& a, const Loop& b) {
      return a.mix[Class::kTensor] != b.mix[Class::kTensor]
                 ? a.mix[Class::kTensor] > b.mix[Class::kTensor]
                 : a.mix.total > b.mix.total;
    });
}

// How many steps the machine loop does before it branches back: the bytes it loads against those of
// a step. Where a load is smaller than the program it is done more than once, and nothing is told.
int steps_a_turn(const Part& part, int threads) {
  if (part.code.empty() || part.work.loaded == 0 || part.work.smallest_load < threads) return 1;
  double loaded = static_cast<double>(part.code.front().mix.global_read) * (threads / 32);
  return std::max(1, static_cast<int>(loaded / static_cast<double>(part.work.loaded) + 0.5));
}

void set_schedule(Part& part, const schedule::ScheduleReport& report, const SourceMap& sources) {
  for (const schedule::LoopReport& loop : report.loops) {
    if (loop.span != part.work.span) continue;
    part.schedule = loop;
    schedule::ScheduleReport of_loop;
    of_loop.loops = {loop};
    part.schedule_text = to_string(of_loop, &sources);
    bool is_async = std::any_of(loop.loads.begin(), loop.loads.end(), [](const auto& load) {
      return load.how == schedule::LoadReport::How::kAsync;
    });
    if (is_async) part.steps_in_flight = std::max(1, loop.stages - 1);
  }
}

std::vector<SpillLine> spill_lines(const std::vector<Instruction>& code,
                                   const std::vector<LineRow>& lines) {
  std::map<std::pair<std::string, int>, int> counts;
  for (const Instruction& i : code) {
    if (i.kind != Class::kLocal) continue;
    const LineRow* row = line_at(lines, i.offset);
    ++counts[row ? std::pair(row->file, row->line) : std::pair(std::string(), 0)];
  }
  std::vector<SpillLine> out;
  for (auto& [at, count] : counts) out.push_back({{at.first, at.second}, count});
  std::stable_sort(out.begin(), out.end(), [](const SpillLine& a, const SpillLine& b) {
    return a.instructions > b.instructions;
  });
  return out;
}

// What runs outside of every loop: the kernel's code less that of its loops.
cuda::sass::Mix outside_mix(const std::vector<Instruction>& code) {
  std::vector<bool> inside(code.size());
  for (const Loop& loop : cuda::sass::find_loops(code))
    for (int index : loop.instructions) inside[static_cast<size_t>(index)] = true;
  cuda::sass::Mix mix;
  for (size_t i = 0; i < code.size(); ++i)
    if (!inside[i]) mix.add(code[i]);
  return mix;
}

}  // namespace

double Part::intensity() const {
  return work.bytes() == 0
             ? 0
             : static_cast<double>(work.operations()) / static_cast<double>(work.bytes());
}

std::vector<std::string> ptxas_notices(std::string_view log) {
  std::vector<std::string> out;
  while (!log.empty()) {
    size_t end = std::min(log.find('\n'), log.size());
    std::string_view line = log.substr(0, end);
    log.remove_prefix(std::min(log.size(), end + 1));
    bool tells = line.find("Potential Performance Loss") != line.npos ||
                 line.find("ptxas warning") != line.npos;
    if (tells && std::find(out.begin(), out.end(), line) == out.end()) out.emplace_back(line);
  }
  return out;
}

Result<Report> make_report(const Input& input) {
  Report out;
  out.kernel = input.source.entry;
  out.target = &input.target;
  out.card = &input.card;
  out.threads = input.source.threads;
  out.num_stages = static_cast<int>(input.module.attrs.get_int("num_stages", 0));
  TW_ASSIGN(out.resources, cuda::read_resources(input.binary.cubin, input.source));
  out.occupancy = cuda::occupancy(out.resources, input.source, input.target);
  TW_ASSIGN(auto code, cuda::sass::decode(input.binary.cubin, input.source));
  for (const Instruction& i : code) out.mix.add(i);
  std::vector<LineRow> lines = cuda::read_lines(input.binary.cubin);
  for (Work& work : count_work(input.module, input.target)) {
    Part part;
    part.work = std::move(work);
    set_lines(part, input.sources);
    out.parts.push_back(std::move(part));
  }
  match_loops(out.parts, code, lines, input.sources);
  cuda::sass::Mix outside = outside_mix(code);
  for (Part& part : out.parts) {
    const cuda::sass::Mix* mix = !part.work.is_loop  ? &outside
                                 : part.code.empty() ? nullptr
                                                     : &part.code.front().mix;
    // What the machine code does counts: no tensor instruction, no tensor rate.
    if (part.work.is_loop && mix && (*mix)[Class::kTensor] == 0)
      for (DotWork& dot : part.work.dot_work) dot.math = Math::kFma;
    if (part.work.is_loop) set_schedule(part, input.source.schedule, input.sources);
    part.steps_a_turn = steps_a_turn(part, out.threads);
    part.bounds = find_bounds({part.work, mix, part.steps_a_turn, out.threads / 32,
                               out.occupancy.blocks, part.steps_in_flight, input.card});
  }
  if (out.mix[Class::kLocal] > 0) out.spills = spill_lines(code, lines);
  if (!input.source.schedule.note.empty()) out.notes.push_back(input.source.schedule.note);
  for (std::string& notice : ptxas_notices(input.binary.log))
    out.notes.push_back(std::move(notice));
  return out;
}

}  // namespace tilewright::report
