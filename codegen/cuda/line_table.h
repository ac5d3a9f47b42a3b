// Source lines of machine code: the .debug_line section of a cubin compiled with line information.
//
// DWARF 2 with NVIDIA's extension for inlined calls: a row may name an earlier row as the place it
// was inlined at. The text's helpers are all inlined, so a row is followed to the outermost call,
// which is a line of the kernel's own source by its #line directives.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tilewright::cuda {

struct LineRow {
  uint32_t offset = 0;  // of the first instruction it holds for, in the kernel's code
  std::string file;     // path as in #line
  int line = 0;
};

// Rows in order of offset, where the outermost call is; empty without line information or when the
// section is damaged.
std::vector<LineRow> read_lines(std::string_view cubin);

// The row that holds for an instruction, or null.
const LineRow* line_at(const std::vector<LineRow>& rows, uint32_t offset);

}  // namespace tilewright::cuda
