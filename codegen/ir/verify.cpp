// The verifier. A module is well-formed when all of this holds:
//
//  Storage    Every id names something. Values, ops and regions know where they are, and each is in
//             one place.
//  Structure  The body's arguments are the parameters, which have names of their own and a
//             divisibility that is a power of two. Every region ends with its terminator and has no
//             other: `return` for the body, `condition` for the first region of `while`, `yield`
//             for all others. An op has as many regions as its row of the op table says.
//  Dominance  An operand is an argument of a region that encloses the op, or a result of an op that
//             stands before it, or before an op that encloses it, in the same region. The region of
//             `reduce` uses nothing from outside.
//  Types      Extents are powers of two, at most 5 of them, at most 2^20 elements in all. Results
//             have the types that the op's type rule gives; operands are what op_rules.cpp asks.
//             fp8 is a storage format: it can be moved, cast and multiplied by `dot`, no more.
//             Shared buffers are made by shared_alloc and used by the ops on them alone: no loop
//             carries one, no branch passes one on.
//  Attributes Those of the op's row and no others, each of its kind, words from the list; those
//             without '?' are there.
//  Regions    Arguments and terminators agree with the owning op: `for` has the index and the
//             carried values, `while` the carried values in both regions, `if` none; `reduce` has
//             two scalars an operand and pure ops only. Yields match the results.
//
// Errors are shown in the module's own listing. One error an op.
#include "codegen/ir/verifier.h"

namespace tilewright::ir {

const Listing& Verifier::listing() {
  if (!listing_) listing_ = list(module);
  return *listing_;
}

Span Verifier::span(OpId op) {
  return op.valid() ? listing().op_spans[op.index] : listing().header;
}

Diagnostic& Verifier::error(DiagKind kind, OpId op, std::string message) {
  return sink_.error(kind, span(op), std::move(message));
}

void Verifier::note(Diagnostic& diagnostic, OpId op, std::string message) {
  diagnostic.notes.push_back({span(op), std::move(message)});
}

Status Verifier::status() {
  if (!sink_.has_errors()) return {};
  sink_.sort();
  SourceMap sources;
  sources.add(module.name + ".ir", listing().text);
  ErrorInfo error = make_error(sink_.all().front().kind, sink_.all().front().message);
  error.details = render(sink_, sources);
  return error;
}

Status verify(const Module& module) {
  TW_TRY(verify_storage(module));
  Verifier verifier(module);
  verify_structure(verifier);
  if (!verifier.has_errors()) {
    walk(module, module.body, [&](OpId op) { verify_op(verifier, op); });
  }
  return verifier.status();
}

}  // namespace tilewright::ir
