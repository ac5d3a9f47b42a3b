// The schedule pass: software pipelining of innermost `for` loops, at tile-op level, before
// layouts.
//
// Loads are started ahead of the iteration that uses them, so that a program computes while memory
// works. With S stages, a load that feeds a dot is copied to one of S slots in shared memory, S-1
// iterations ahead; any other load is kept in registers, one iteration ahead.
//
//   for %i in lo, hi, step (%p) {               buffer = shared_alloc            // S = 3
//     %a = load %p                              if lo < hi { copy_async buffer 0 p0 }; copy_commit
//     %acc' = dot %a, …                         if hi - lo > step { copy_async buffer 1 p1 };
//     copy_commit %p' = ptr_add %p, …            ->         for %i in lo, hi, step (…, read = 0,
//     write = 2, p2) { yield …                                     copy_wait {pending=1}
//   }                                             a = shared_load buffer read
//                                                 if hi - %i > 2 * step { copy_async buffer write
//                                                 p2 } copy_commit %acc' = dot a, … yield …, read +
//                                                 1 (mod 3), read, ptr_add p2, …
//                                               }
//                                               copy_wait {pending=0}
//
// Before: a module out of passes::run_pipeline. After: it computes the same to the bit, and may
// hold the ops of the family `shared`. Running the pass again changes nothing.
#pragma once

#include <string>
#include <vector>

#include "codegen/ir/module.h"
#include "codegen/schedule/keep.h"
#include "codegen/target/target.h"

namespace tilewright::schedule {

// What became of one load of a loop.
struct LoadReport {
  enum class How : uint8_t {
    kAsync,   // copied to shared memory, stages-1 iterations ahead
    kStaged,  // loaded to registers one iteration ahead, then written to shared memory
    kAhead,   // loaded to registers ahead
    kOnce,    // the same in every iteration: copied to shared memory before the loop
    kKept,    // left where it was
  };
  Span span;
  ir::Type type;
  How how = How::kKept;
  std::string why;
};

struct LoopReport {
  Span span;
  int requested = 1;  // by tl.range(num_stages=) or the kernel's num_stages
  int stages = 1;     // given; 1: the loop is as it was
  std::string why;    // it was not given what it requested; empty otherwise
  std::vector<LoadReport> loads;
  int64_t shared_bytes = 0;  // of its buffers
};

struct ScheduleReport {
  std::vector<LoopReport> loops;  // innermost `for` loops with loads, in the order of the text
  std::vector<KeptLoad> kept;     // of sweeps (keep.h)
  // Set by cuda::emit: stages were taken from every loop until the kernel fitted.
  std::string note;

  int most_stages() const;
  bool uses_shared() const;
};

struct ScheduleOptions {
  int max_stages = 32;    // no loop gets more; 1: copies to one slot, nothing ahead; 0: none
  bool keep_rows = true;  // in shared memory, for later loops over the same range
};

ScheduleReport schedule(ir::Module& module, const Target& target,
                        const ScheduleOptions& options = {});

// One line a loop, one a load below it. With sources, spans are line:column.
std::string to_string(const ScheduleReport& report, const SourceMap* sources = nullptr);

}  // namespace tilewright::schedule
