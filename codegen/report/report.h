// What can be told of a compiled kernel without a GPU: resources, occupancy, and for each main loop
// its work, its machine code and what bounds it. `tilewright compile --emit report` prints it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/cuda/cuda.h"
#include "codegen/cuda/sass.h"
#include "codegen/report/bounds.h"
#include "codegen/report/work.h"
#include "codegen/schedule/schedule.h"

namespace tilewright::report {

struct Place {
  std::string path;
  int line = 0;  // 0: not known
};

// An innermost loop, or the code outside of loops (first), with the machine code that runs it.
struct Part {
  Work work;
  Place from, to;  // lines it covers in the kernel's source
  // Machine loops that hold its lines; several where the compiler made copies (a peeled tail). The
  // first, largest one is the main one.
  std::vector<cuda::sass::Loop> code;
  int steps_a_turn = 1;  // of the main machine loop: ptxas may unroll one
  std::optional<schedule::LoopReport> schedule;
  std::string schedule_text;  // of `schedule`, one line a load
  int steps_in_flight = 1;    // whose loads are on their way together
  std::vector<Bound> bounds;  // largest first

  double intensity() const;  // operations a byte of global memory
};

// Local-memory instructions by the source line they belong to.
struct SpillLine {
  Place at;
  int instructions = 0;
};

struct Phase {
  std::string name;
  double milliseconds = 0;
};

struct Report {
  std::string kernel;
  const Target* target = nullptr;
  const Card* card = nullptr;
  int threads = 0;
  int num_stages = 0;
  cuda::Resources resources;
  cuda::Occupancy occupancy;
  cuda::sass::Mix mix;  // of the whole kernel
  std::vector<Part> parts;
  std::vector<SpillLine> spills;
  std::vector<std::string> notes;  // of the schedule, and what ptxas warned of
  std::vector<Phase> phases;       // of compiling, in order
};

struct Input {
  const ir::Module& module;  // before emission
  const cuda::Source& source;
  const cuda::Binary& binary;  // compiled with line information, else loops are matched by order
  const Target& target;
  const Card& card;
  const SourceMap& sources;
};

Result<Report> make_report(const Input& input);
// For people; columns line up, times last.
std::string to_text(const Report& report);

// The lines of a ptxas log that tell of lost speed: "Potential Performance Loss …" and warnings.
std::vector<std::string> ptxas_notices(std::string_view log);

}  // namespace tilewright::report
