// Rows that are gone over several times, kept in shared memory: what the first loop loads, the
// later ones do not load again.
//
//   for %k = %lo, %hi, %step {               buffer = shared_alloc                  // K slots
//     %x = load …%k…                         for %k = %lo, %hi, %step {
//   }                                          %x = load …%k…
//   …                                          if (%k - %lo) / %step < K { shared_store buffer … %x
//   } for %k = %lo, %hi, %step {         ->    }
//     %y = load …%k…                         barrier
//   }                                        for %k = %lo, %lo + K * %step { %y = shared_load
//   buffer … }
//                                            for %k = %lo + K * %step, %hi { %y = load …%k… }
//
// A later loop may also go from the end to the beginning (%hi - 1 - %k in place of %k, from 0 in
// steps of 1): its last K iterations find their tiles. Shared memory that programs leave unused on
// an SM is taken for this, not more: registers decide how many there are, and the L1 cache keeps
// room for loads under way (without it a layer norm of 16384 columns in 16 bits fell to two thirds
// of its speed on an H200). Where sweeps.h has made a version that holds the row in registers,
// nothing is kept.
#pragma once

#include <vector>

#include "codegen/ir/module.h"
#include "codegen/target/target.h"

namespace tilewright::schedule {

struct KeptLoad {
  Span span;
  ir::Type type;
  int slots = 0;
};

// Kernels without dots, whose loops neither write what they load nor meet other programs. Gives the
// loads that are kept; none: the module is as it was.
std::vector<KeptLoad> keep_rows(ir::Module& module, const Target& target);

}  // namespace tilewright::schedule
