// Dots that a backend has no instructions for, in terms of those that it has.
#pragma once

#include <functional>

#include "codegen/ir/module.h"

namespace tilewright::passes {

// Expands the dots for which `native` is false, where there is an expansion:
//
//   dot %a, %b, %acc {nibbles=1}  ->  %s = dot (low %a), (low %b), %acc
//                                     dot (high %a), (high %b), %s
//   (low and high: shifts that keep the sign of i8, masks for u8)
//
//   dot %a, %b, %acc, %places         ->  dot (%a written out), %b, %acc
//   (written out: the places taken apart, a select for each of them, join and reshape)
//
//   dot %a, %b, %acc, %x, %y          ->  dot (%a scaled), (%b scaled), %acc
//   (where one is fp8 and the other e2m1 and such a dot of fp8 is native, e2m1 becomes e4m3, else
//   scaled: widened to f32, times the scales, rounded to bf16, which is exact but for underflow)
//
// Returns whether anything changed.
bool expand_dots(ir::Module& module,
                 const std::function<bool(const ir::Module&, const ir::OpNode&)>& native);

}  // namespace tilewright::passes
