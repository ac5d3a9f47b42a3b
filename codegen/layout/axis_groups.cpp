// Who holds which bits of the index along a dimension (linear_layout.h).
#include <algorithm>
#include <bit>
#include <numeric>

#include "codegen/layout/linear_layout.h"

namespace tilewright::layout {

std::optional<std::vector<AxisGroup>> axis_groups(const LinearLayout& layout, int axis) {
  using Holder = AxisGroup::Holder;
  const uint32_t inside = axis_mask(layout.shape, axis);
  const int shift = axis_shift(layout.shape, axis);
  struct Bit {
    Holder holder{};
    int bit = -1;
  };
  std::vector<Bit> holders(static_cast<size_t>(std::popcount(inside)));
  auto enter = [&](const std::vector<uint32_t>& columns, Holder holder) {
    for (size_t b = 0; b < columns.size(); ++b) {
      if ((columns[b] & inside) == 0) continue;
      if (!std::has_single_bit(columns[b])) return false;
      Bit& entry = holders[static_cast<size_t>(std::countr_zero(columns[b]) - shift)];
      if (entry.bit >= 0) return false;
      entry = {holder, static_cast<int>(b)};
    }
    return true;
  };
  if (!enter(layout.reg, Holder::kRegister) || !enter(layout.lane, Holder::kLane) ||
      !enter(layout.warp, Holder::kWarp))
    return std::nullopt;
  std::vector<AxisGroup> groups;
  for (const Bit& entry : holders) {
    if (groups.empty() || groups.back().holder != entry.holder ||
        groups.back().bits.back() > entry.bit)
      groups.push_back({entry.holder, {}});
    groups.back().bits.push_back(entry.bit);
  }
  return groups;
}

LinearLayout scan_layout(const LinearLayout& layout, int axis) {
  if (axis_groups(layout, axis)) return layout;
  std::vector<int> order(layout.shape.size());
  std::iota(order.rbegin(), order.rend(), 0);
  std::rotate(order.begin(), std::ranges::find(order, axis), std::ranges::find(order, axis) + 1);
  int64_t vector = std::min<int64_t>(4, layout.shape[static_cast<size_t>(axis)]);
  return blocked(layout.shape, layout.warps(), order, static_cast<int>(vector));
}

}  // namespace tilewright::layout
