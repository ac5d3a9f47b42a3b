// The op table as a Markdown page (OPS.md).
#pragma once

#include <string>

#include "codegen/ir/op_info.h"

namespace tilewright::ir {

// One op: its signature, traits and meaning.
std::string op_doc(Op op);
// The whole page, by family.
std::string ops_page();

}  // namespace tilewright::ir
