// How long an SM must take for one step of a loop, by each thing that may hold it up. The largest
// is the bound. A model of ceilings: nothing here knows of stalls between instructions.
#pragma once

#include <string>
#include <vector>

#include "codegen/cuda/sass.h"
#include "codegen/report/work.h"

namespace tilewright::report {

struct Bound {
  std::string name;   // tensor, fma, special, shared, issue, L2, DRAM, latency
  double clocks = 0;  // of one SM, for a step of one program
  std::string how;    // the arithmetic: "1048576 operations / 512"
};

struct BoundInput {
  const Work& work;
  const cuda::sass::Mix* code = nullptr;  // per warp; null when not known
  int steps = 1;                          // that `code` does
  int warps = 4;
  int resident = 1;         // programs on an SM
  int steps_in_flight = 1;  // whose loads are on their way together
  const Card& card;
};

// Those that apply, largest first; empty when the step does nothing.
std::vector<Bound> find_bounds(const BoundInput& input);

// What the card does at most at this many clocks a step, in operations (or bytes) a second.
double at_most(const Card& card, double amount, double clocks);

}  // namespace tilewright::report
