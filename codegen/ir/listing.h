// The printed form of a module together with where things are in it, so that errors about a module
// can be shown with a caret in its own listing.
#pragma once

#include <string>
#include <vector>

#include "codegen/ir/module.h"

namespace tilewright::ir {

struct Listing {
  std::string text;
  // Byte range of each op's first line by op index; begin == end for ops that are in no region.
  // `file` is 0: the listing is meant to be the first file of a SourceMap.
  std::vector<Span> op_spans;
  Span header;  // the kernel's first line
  std::vector<std::string>
      value_names;  // by value index, with the %; empty if not defined anywhere

  std::string name(ValueId id) const;
};

// With `sources`, ops that have a span end with loc(line:column). Works on ill-formed modules too.
Listing list(const Module& module, const SourceMap* sources = nullptr);

// Attribute text, e.g. {axis=0, pred=lt}; empty for no attributes.
std::string to_string(const Attrs& attrs);
// Exact and distinct from integers: 1.0, 0.1, -0.0, 1e+30, inf, -inf, nan, nan(0x7ff8000000000001).
std::string float_text(double value);
// `text` in double quotes with escapes.
std::string quoted(std::string_view text);

}  // namespace tilewright::ir
