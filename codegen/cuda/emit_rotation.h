// A pipelined loop around dots, turned so that the tensor cores never wait for the first fragments
// of an iteration: the copy_wait at the top of the body moves before the products of the last dot's
// last unit, followed by the loads of the next iteration's first unit of the first dot.
//
//   for … {                              if (lo < hi) { wait; barrier; load unit 0 }
//     wait; barrier                      for … {
//     copies of a later iteration          copies of a later iteration
//     dot                          ->      load unit 1; products of unit 0
//     yield                                wait; barrier; next slot; load unit 0 of it
//   }                                      products of unit 1
//                                          yield
//                                        }
//
// All reads of an iteration's slots stand before that barrier, so the copies at the top of the next
// iteration may overwrite it, as in the loop as it was. The last iteration has no next one: it
// loads fragments that nobody uses (tw_next_slot).
//
// With several dots (attention's q k, then p v) what stands between them stays there. Where
// operands go through registers (shared_store), the next iteration's are stored before the wait,
// which then is a barrier: the slot they go to was read last before the barrier of the iteration
// before.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "codegen/cuda/emit_dot.h"

namespace tilewright::cuda {

struct Rotation {
  ir::OpId loop, wait;
  ir::OpId dot;                   // the first, whose fragments are loaded ahead
  ir::OpId last;                  // the one that holds the wait
  std::vector<ir::OpId> hoisted;  // shared_loads of the dot's operands, and their renamings
  std::vector<ir::OpId> stores;   // shared_stores
  std::vector<ir::OpId> order;    // the other ops of the body; none behind the last dot reads slots
  // A slot that the loop carries, with its variable: the slot's number times `bytes`.
  struct Slot {
    size_t carried = 0;  // number of the carried value
    int64_t bytes = 0;
    std::string name = {};
  };
  std::vector<Slot> slots;
  std::string exists, more;  // text: there is a first iteration, another one
  std::vector<View> carried = {};
  std::optional<MmaDot> state = {};
};

// Whether a `for` loop can be turned, and how.
std::optional<Rotation> plan_rotation(const Emitter& e, ir::OpId loop);
// What stands before the loop; false if the dot's units do not allow it after all (nothing was
// emitted). `carried` are the variables of the carried values.
bool open_rotation(Emitter& e, Rotation& rotation, const std::vector<View>& carried);
// The variable for the slot that a hoisted shared_load reads.
const std::string& rotated_slot(const Emitter& e, const Rotation& rotation, ir::OpId shared_load);
// The first dot.
void emit_rotated_dot(Emitter& e, Rotation& rotation);
// The wait and what follows it.
void turn_over(Emitter& e, Rotation& rotation);

}  // namespace tilewright::cuda
