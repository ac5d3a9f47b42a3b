// Worker threads for grids, one pool a process, started when first needed.
#pragma once

#include <cstdint>
#include <functional>

namespace tilewright::cpu {

// Calls body(begin, end) for consecutive ranges that cover [0, count), from up to `threads`
// threads, the caller's included; returns when all is done. Ranges are handed out in rising order,
// so whoever waits for an earlier index waits for one that has started. body must not throw; it
// returns false to stop: no further range is handed out.
void parallel_ranges(uint64_t count, int threads,
                     const std::function<bool(uint64_t begin, uint64_t end)>& body);

}  // namespace tilewright::cpu
