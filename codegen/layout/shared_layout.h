// A tile in shared memory that is written once and read by others: where each of its elements lies
// is a linear map over F2 of its own, chosen for the writer and the most important reader; every
// register layout can then be read from it or written to it.
//
// The map is row-major in the writer's order of dimensions, so that 16-byte vectors of the writer
// stay whole and its warps write whole rows of banks; within each 128 bytes the 16-byte chunks are
// permuted by bits of the row (the swizzle), so that the reader's lanes meet each bank once.
#pragma once

#include <cstdint>
#include <vector>

#include "codegen/layout/conversion.h"
#include "codegen/layout/linear_layout.h"

namespace tilewright::layout {

struct SharedLayout {
  Shape shape;
  int element_bytes = 1;         // 1, 2, 4 or 8
  std::vector<uint32_t> offset;  // byte offset of the element with flat index 1 << i

  // Bytes that one tile takes: a multiple of 128, so that a tile may start at any such place
  // without changing the banks.
  int64_t bytes() const;
  uint32_t at(uint32_t element) const;
  friend bool operator==(const SharedLayout&, const SharedLayout&) = default;
};

// Row-major with the dimension order[0] fastest.
SharedLayout row_major(const Shape& shape, int element_bytes, const std::vector<int>& order);

struct AccessOptions {
  bool ldmatrix = false;  // loads may use ldmatrix
  // Register bits of the layout that an access should not span, if it can be helped: a dot loads
  // its fragments step by step along K.
  uint32_t apart = 0;
  int max_vector_bytes = 16;
};

// How a register layout is read from (is_load) or written to the tile. Always possible; the widest
// accesses that the two allow. Registers that hold copies are left out.
SharedAccess plan_access(const SharedLayout& shared, const LinearLayout& layout, bool is_load,
                         const AccessOptions& options = {});

// The swizzle under which `reader`'s accesses are free of bank conflicts, as far as permuting the
// 16-byte chunks of rows can achieve it. `plain` is row_major(…).
SharedLayout swizzled_for(const SharedLayout& plain, const LinearLayout& reader,
                          const AccessOptions& options = {});

// The same tile under another name: what `permute` and `reshape` make of it (see linear_layout.h).
SharedLayout permute(const SharedLayout& shared, const std::vector<int>& order);
SharedLayout reshape(const SharedLayout& shared, const Shape& shape);

}  // namespace tilewright::layout
