// Conversions between register layouts, as planned by layout::plan_conversion.
#include "codegen/cuda/emit_convert.h"

#include <fmt/format.h>

#include <bit>
#include <set>

#include "codegen/layout/f2.h"
#include "dsl/base/check.h"

namespace tilewright::cuda {

using layout::Conversion;
using layout::LinearLayout;
using layout::SharedAccess;

namespace {

// A conversion's scratch above this repeats over registers, where both layouts allow it.
constexpr int64_t kScratchLimit = 32 * 1024;

std::vector<uint32_t> as_unsigned(const std::vector<int>& values) {
  return {values.begin(), values.end()};
}

// The register type that moves: the offset's for pointers with a base.
ir::Type moved_type(const View& view) {
  if (!view.type.is_pointer) return view.type;
  return view.base.empty() ? view.type : ir::Type::tile(view.offset_dtype, view.type.shape);
}

// ---- shuffles ----

// Threads with odd parity under the mask swap registers r and r ^ register_xor.
View exchange(Emitter& e, const View& view, const Conversion::Exchange& exchange,
              const std::string& hint) {
  std::string odd =
      e.at_top("bool", "odd", fmt::format("tw_parity(thread & {})", exchange.thread_mask));
  e.thread();
  View swapped = e.declare(view.type, view.layout, e.fresh(hint));
  std::vector<uint32_t> own, other, to;
  for (uint32_t r = 0; r < static_cast<uint32_t>(view.registers()); ++r) {
    to.push_back(r);
    own.push_back(view.index(r));
    other.push_back(view.index(r ^ exchange.register_xor));
  }
  e.each({to, own, other}, [&](const std::vector<std::string>& i) {
    return fmt::format("{} = {} ? {} : {};", swapped.element(i[0]), odd, view.element(i[2]),
                       view.element(i[1]));
  });
  return swapped;
}

View shuffled(Emitter& e, View view, const Conversion& plan, const std::string& hint) {
  const Conversion::Shuffles& s = plan.shuffles;
  view.type = moved_type(view);
  for (const auto& step : s.before) view = exchange(e, view, step, hint);
  LinearLayout received_layout = view.layout;  // only the number of registers matters from here on
  received_layout.reg.assign(static_cast<size_t>(std::countr_zero(s.lane_xor.size())), 0);
  View received = e.declare(view.type, received_layout, e.fresh(hint));
  std::vector<uint32_t> to;
  for (uint32_t k = 0; k < s.lane_xor.size(); ++k) to.push_back(k);
  bool stays = s.stays_in_lane();
  std::string image;
  if (!stays) {
    e.thread();
    image = e.at_top("u32", "from", linear_expression({{"thread", s.lane_columns}}));
  }
  std::vector<uint32_t> sources = view.indices(as_unsigned(s.source_register));
  auto move = [&](const std::vector<std::vector<uint32_t>>& tables) {
    e.each(tables, [&](const std::vector<std::string>& i) {
      std::string target = received.element(i[0]), source = view.element(i[1]);
      if (stays) {
        if (i[2] == "0") return fmt::format("{} = {};", target, source);
        return fmt::format("{} = tw_shfl_xor({}, {});", target, source, i[2]);
      }
      return fmt::format("{} = tw_shfl({}, {});", target, source,
                         i[2] == "0" ? image : image + " ^ " + paren(i[2]));
    });
  };
  // What stays in its lane is no shuffle.
  std::vector<std::vector<uint32_t>> staying(3), moving(3);
  for (uint32_t k : to) {
    auto& tables = stays && s.lane_xor[k] == 0 ? staying : moving;
    tables[0].push_back(k);
    tables[1].push_back(sources[k]);
    tables[2].push_back(s.lane_xor[k]);
  }
  for (const auto& tables : {staying, moving})
    if (!tables[0].empty()) move(tables);
  for (const auto& step : s.after) received = exchange(e, received, step, hint);
  return received;
}

// ---- shared memory ----

// Text that yields a pointer to `vector` consecutive values of registers; gathers them first if
// need be.
std::string gathered(const View& view, const SharedAccess& access,
                     const std::vector<std::string>& element) {
  std::string list;
  for (int j = 0; j < access.vector; ++j)
    list += (j > 0 ? ", " : "") + view.element(element[static_cast<size_t>(j)]);
  return fmt::format("const {} t[{}] = {{{}}};", type_name(moved_type(view)), access.vector, list);
}

bool consecutive(const std::vector<uint32_t>& indices, int vector) {
  for (size_t i = 0; i < indices.size(); ++i)
    if (indices[i] != indices[i / vector * vector] + i % vector) return false;
  return true;
}

View through_shared(Emitter& e, const View& view, const LinearLayout& to, const Conversion& plan,
                    const std::string& hint) {
  const Conversion::Shared& s = plan.shared;
  ir::Type type = moved_type(view);
  int64_t start = e.scratch_start();
  e.reserve_shared(start + s.bytes, e.span(),
                   fmt::format("moving a {} between layouts", ir::to_string(view.type)));
  View result = e.declare(type, to, e.fresh(hint));
  for (int p = 0; p < s.repeats; ++p) {
    if (p > 0)
      e.barrier();
    else
      e.before_shared_write();
    int stores = s.store.accesses() / s.repeats, loads = s.load.accesses() / s.repeats;
    emit_shared_stores(e, s.store, {"", start}, view, p * stores, (p + 1) * stores);
    e.barrier();
    emit_shared_loads(e, s.load, {"", start}, result, p * loads, (p + 1) * loads);
    e.after_shared_read();
  }
  return result;
}

}  // namespace

View renamed(Emitter& e, const View& source, const std::vector<int>& table,
             const LinearLayout& layout, std::string_view hint) {
  View view = source;
  view.layout = layout;
  std::vector<uint32_t> indices = source.indices(as_unsigned(table));
  auto columns = affine_columns(indices);
  if (columns && indices[0] == 0) {
    view.columns = *columns;
    return view;
  }
  ir::Type type = source.type.is_pointer && !source.base.empty()
                      ? ir::Type::scalar(source.offset_dtype).with_shape(source.type.shape)
                      : source.type;
  View copy = e.declare(type, layout, e.fresh(hint));
  std::vector<uint32_t> to;
  for (uint32_t r = 0; r < indices.size(); ++r) to.push_back(r);
  e.each({to, indices}, [&](const std::vector<std::string>& i) {
    return fmt::format("{} = {};", copy.element(i[0]), source.element(i[1]));
  });
  view.name = copy.name;
  view.is_array = copy.is_array;
  view.columns = copy.columns;
  return view;
}

SharedPlace::SharedPlace(Emitter& e, const SharedAccess& access, const SharedStart& start)
    : e_(e),
      at_(e.thread_map(access.lane, access.warp)),
      reach_(reach(access.lane) | reach(access.warp)),
      start_(start) {}

std::string SharedPlace::base(const std::string& hint, uint32_t meeting) const {
  std::string own = at_;
  if (meeting != 0) own = fmt::format("{} ^ {}", at_, meeting);
  if (start_.base.empty()) {
    if (meeting == 0) return at_.empty() ? "0" : at_;
    return e_.at_top("u32", "at", own);
  }
  if (own.empty()) return start_.base;
  std::string name = e_.fresh(hint);
  // What depends on the thread alone is computed before the loop that goes through the slots, if
  // there are registers to hold it. Else: a slot starts at a multiple of a row, so what is swizzled
  // within a row may be XORed to the sum, of which there is then one for all patterns.
  constexpr uint32_t kRow = 128;
  if (meeting != 0 && meeting < kRow && e_.assignment.dots.size() > 1) {
    e_.out.line(fmt::format("const u32 {} = ({} + {}) ^ {};", name, start_.base, at_, meeting));
    return name;
  }
  if (meeting != 0) own = e_.at_top("u32", "at", fmt::format("tw_keep({})", own));
  e_.out.line(fmt::format("const u32 {} = {} + {};", name, start_.base, own));
  return name;
}

std::string SharedPlace::address(const std::string& meeting, const std::string& apart) const {
  std::string text = at_;
  if (meeting != "0") text = "(" + at_ + " ^ " + paren(meeting) + ")";
  if (apart != "0") text += (text.empty() ? "" : " + ") + apart;
  if (!start_.base.empty()) text += (text.empty() ? "" : " + ") + start_.base;
  if (start_.bytes != 0) text += (text.empty() ? "" : " + ") + std::to_string(start_.bytes);
  return text.empty() ? "0" : text;
}

void emit_shared_stores(Emitter& e, const SharedAccess& access, const SharedStart& start,
                        const View& view, int first, int last) {
  SharedPlace place(e, access, start);
  std::string holds = e.none_of(access.copy_lanes, access.copy_warps);
  std::string guard = holds.empty() ? "" : fmt::format("if ({}) ", holds);
  std::vector<uint32_t> meeting, apart, indices;
  for (int k = first; k < last; ++k) {
    meeting.push_back(place.meeting(access.offsets[static_cast<size_t>(k)]));
    apart.push_back(place.apart(access.offsets[static_cast<size_t>(k)]));
    for (int j = 0; j < access.vector; ++j)
      indices.push_back(view.index(
          static_cast<uint32_t>(access.registers[static_cast<size_t>(k * access.vector + j)])));
  }
  std::vector<std::vector<uint32_t>> tables = {meeting, apart};
  for (int j = 0; j < access.vector; ++j) {
    tables.emplace_back();
    for (size_t k = 0; k < meeting.size(); ++k)
      tables.back().push_back(
          indices[k * static_cast<size_t>(access.vector) + static_cast<size_t>(j)]);
  }
  bool direct =
      !view.uniform && (view.is_array || access.vector == 1) && consecutive(indices, access.vector);
  e.each(tables, [&](const std::vector<std::string>& i) {
    std::string address = place.address(i[0], i[1]);
    if (direct)
      return fmt::format("{}tw_shared_store<{}>({}, {});", guard, access.vector, address,
                         Emitter::pointer(view, i[2]));
    return fmt::format("{}{{ {} tw_shared_store<{}>({}, t); }}", guard,
                       gathered(view, access, {i.begin() + 2, i.end()}), access.vector, address);
  });
}

void emit_shared_loads(Emitter& e, const SharedAccess& access, const SharedStart& start,
                       const View& view, int first, int last) {
  SharedPlace place(e, access, start);
  std::vector<std::vector<uint32_t>> tables(2 + static_cast<size_t>(access.vector));
  std::vector<uint32_t> indices;
  for (int k = first; k < last; ++k) {
    tables[0].push_back(place.meeting(access.offsets[static_cast<size_t>(k)]));
    tables[1].push_back(place.apart(access.offsets[static_cast<size_t>(k)]));
    for (int j = 0; j < access.vector; ++j) {
      indices.push_back(
          static_cast<uint32_t>(access.registers[static_cast<size_t>(k * access.vector + j)]));
      tables[2 + static_cast<size_t>(j)].push_back(indices.back());
    }
  }
  bool direct = consecutive(indices, access.vector);
  e.each(tables, [&](const std::vector<std::string>& i) {
    std::string address = place.address(i[0], i[1]);
    if (access.kind == SharedAccess::Kind::kVector && direct)
      return fmt::format("tw_shared_load<{}>({}, {});", access.vector, Emitter::pointer(view, i[2]),
                         address);
    std::string scatter;
    for (int j = 0; j < access.vector; ++j)
      scatter += fmt::format(" {} = t[{}];", view.element(i[2 + static_cast<size_t>(j)]), j);
    std::string type = type_name(view.type);
    if (access.kind == SharedAccess::Kind::kVector)
      return fmt::format("{{ {} t[{}]; tw_shared_load<{}>(t, {});{} }}", type, access.vector,
                         access.vector, address, scatter);
    std::string_view trans = access.kind == SharedAccess::Kind::kLdmatrixTrans ? "_trans" : "";
    int matrices = access.matrices(view.type.element_bytes());
    std::string load =
        fmt::format("u32 w[{}]; tw_ldmatrix{}<{}>(w, {});", matrices, trans, matrices, address);
    if (direct)
      return fmt::format("{{ {} tw_from_words<{}>({}, w); }}", load, access.vector,
                         Emitter::pointer(view, i[2]));
    return fmt::format("{{ {} {} t[{}]; tw_from_words<{}>(t, w);{} }}", load, type, access.vector,
                       access.vector, scatter);
  });
}

View Emitter::convert(const View& from, const LinearLayout& layout, std::string_view hint) {
  if (from.layout == layout) return from;
  View view = single_offset(from, "offset");
  if (view.uniform) {
    View moved = view;
    moved.layout = layout;
    return moved;
  }
  int bytes = moved_type(view).element_bytes();
  Conversion plan =
      layout::plan_conversion(view.layout, layout, bytes,
                              {.ldmatrix = target.has_ldmatrix, .max_shared_bytes = kScratchLimit});
  std::string name = std::string(hint.empty() ? "t" : hint) + "_moved";
  View moved;
  switch (plan.kind) {
    case Conversion::Kind::kNone:
      return view;
    case Conversion::Kind::kRegisters:
      return renamed(*this, view, plan.source, layout, name);
    case Conversion::Kind::kShuffles:
      moved = shuffled(*this, view, plan, name);
      break;
    case Conversion::Kind::kShared:
      moved = through_shared(*this, view, layout, plan, name);
      break;
  }
  moved = renamed(*this, moved, plan.source, layout, name);
  moved.type = view.type;
  moved.base = view.base;
  moved.offset_dtype = view.offset_dtype;
  moved.scale = view.scale;
  return moved;
}

}  // namespace tilewright::cuda
