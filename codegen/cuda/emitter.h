// The emitter's shared state and helpers. Handlers of ops are free functions emit_<Op>, in one file
// a family (emit_*.cpp); a missing one is a link error that names it.
//
// How a tile is held. Every thread holds the registers of the tile's layout; in the text they are
// an array `T x[R]` (a scalar variable when R is 1), indexed by constants in unrolled loops. A View
// says how a value is read from such an array: broadcasts, reshapes and conversions that only
// rename registers give another view of the same array and no text. A value that is the same
// everywhere (scalars, splats) is a uniform view: one scalar variable or literal. A tile of
// pointers is a uniform base plus element offsets, so that offsets stay 32-bit until the access.
//
// Shared memory. Buffers of the schedule have their places for as long as they live
// (emit_buffers.h). Exchanges (conversions, reductions, staged operands) use the same scratch above
// the buffers that are live, one after another; a barrier separates the reads of one from the
// writes of the next.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "codegen/analysis/axis_info.h"
#include "codegen/cuda/cuda.h"
#include "codegen/cuda/emit_buffers.h"
#include "codegen/cuda/emit_text.h"
#include "codegen/cuda/layouts.h"

namespace tilewright::cuda {

// A place in the program's shared memory: `bytes` beyond what `base` says, the text of a u32 that
// is the same for all threads and a multiple of 128 (empty: 0).
struct SharedStart {
  std::string base = {};
  int64_t bytes = 0;
};

// A tile that still lies in a slot of a buffer: the registers that `layout` says of the slot's tile
// are those of the view, whatever reshapes lie between.
struct SlotTile {
  layout::SharedLayout shared;
  layout::LinearLayout layout;
  SharedStart start;
};

struct View {
  ir::Type type = {};
  layout::LinearLayout layout = {};  // of the view's registers (tiles)
  std::string name = {};             // array or scalar variable, or a literal
  bool uniform = false;              // the same for every element
  bool is_array = false;             // name needs an index
  std::vector<uint32_t> columns =
      {};  // array index of register r: XOR of columns[b] for the bits of r
  // Tiles of pointers: address = base + (i64)element * scale, and the same for each of `more`.
  // Without a base, elements are addresses.
  std::string base = {};
  std::vector<View> more = {};
  Dtype offset_dtype = Dtype::kU64;
  int scale = 1;
  // Not in registers yet: the dots that use it read it themselves. Such a view has no name.
  std::shared_ptr<const SlotTile> slot = {};

  int registers() const { return layout.registers(); }
  // The type of the elements in the text: the offset's for pointers with a base.
  Dtype element_dtype() const { return type.is_pointer ? offset_dtype : type.dtype; }
  // Array index of register r.
  uint32_t index(uint32_t r) const;
  std::vector<uint32_t> indices(const std::vector<uint32_t>& registers) const;
  // The array entry at an index (text), at register `variable` of an unrolled loop.
  std::string element(const std::string& index) const;
  std::string at(const std::string& variable) const;
  // The value of register `variable`: the entry, or the address for pointers.
  std::string value(const std::string& variable) const;
  // The same from tables of array indices: index_tables() of them, appended for these registers; a
  // text of each, from `index` on.
  size_t index_tables() const { return 1 + more.size(); }
  void add_indices(std::vector<std::vector<uint32_t>>& tables,
                   const std::vector<uint32_t>& registers) const;
  std::string value(const std::vector<std::string>& indices, size_t first) const;
  // Registers aligned groups of `width` lie in consecutive array entries.
  bool is_contiguous(int width) const;
  bool is_plain() const;
};

// Pair i of the registers 2i and 2i + 1 of a tile of 16-bit values, as a word that has no text of
// its own: ((text >> shift) & mask) ^ flip.
struct PairWord {
  std::string text;
  int shift = 0;
  uint32_t mask = ~0u, flip = 0;
};

struct Rotation;

class Emitter {
 public:
  Emitter(const ir::Module& module, const LayoutAssignment& assignment, const Target& target,
          const Options& options);

  Result<Source> run();

  const ir::Module& module;
  const LayoutAssignment& assignment;
  const Target& target;
  const Options& options;
  Writer out;

  // Emits the ops of a region up to its terminator, which is returned; in another order, and
  // perhaps not all of them, where `order` says so.
  ir::OpId emit_region(ir::RegionId region, const std::vector<ir::OpId>* order = nullptr);
  void emit_op(ir::OpId id);
  // The turned loop whose body is being emitted (emit_rotation.h).
  Rotation* rotation = nullptr;
  // The first error wins; emission goes on.
  void fail(ErrorInfo error);

  // ---- values ----
  const View& view(ir::ValueId value) const;
  void define(ir::ValueId value, View view);
  // Operand number `index` in the layout that the op needs it in.
  View use(ir::OpId op, int index);
  View convert(const View& view, const layout::LinearLayout& layout, std::string_view hint);
  const layout::LinearLayout& layout_of(ir::ValueId value) const;
  bool is_used(ir::ValueId value) const { return !users(value).empty(); }
  // The ops that have it as an operand, in order, once for each time.
  const std::vector<ir::OpId>& users(ir::ValueId value) const { return users_[value.index]; }
  // Values that are nothing but logic on pairs, for the pairs computed from them (emit_pairs.cpp).
  std::map<ir::ValueId, PairWord> pair_words;
  std::string name_for(ir::ValueId value);
  std::string fresh(std::string_view hint) { return names_.fresh(hint); }
  // Declares `T name;` or `T name[R];` and returns the plain view of it.
  View declare(const ir::Type& type, const layout::LinearLayout& layout, const std::string& name);
  // Defines the result: element(variable) for each register, or once when uniform.
  using Element = std::function<std::string(const std::string& variable)>;
  void define_each(ir::ValueId result, bool uniform, const Element& element);
  View make_each(const ir::Type& type, const layout::LinearLayout& layout, const std::string& name,
                 bool uniform, const Element& element);
  // Aligned groups of 2^n registers of a tile are known to be equal.
  int repeated_bits(ir::ValueId value) const;
  // `to` = `from`, register by register; `to` is plain.
  void assign(const View& to, const View& from);
  // A view whose every aligned group of `width` registers is contiguous and has storage: itself, or
  // a copy.
  View contiguous(const View& view, int width, std::string_view hint);
  // Text of a pointer to the array entry `index` of a contiguous or plain view.
  static std::string pointer(const View& view, const std::string& index);
  // A pointer view with one offset array (or none).
  View single_offset(const View& view, std::string_view hint);

  // ---- the thread's place ----
  // XOR of the columns for the bits of the lane and warp number, computed once at the top of the
  // kernel; an empty text for 0.
  std::string thread_map(const std::vector<uint32_t>& lane, const std::vector<uint32_t>& warp);
  // True where neither number has one of these bits; an empty text where that is everywhere.
  std::string none_of(uint32_t lanes, uint32_t warps);
  std::string thread() { return need_thread_ = true, "thread"; }
  // Declared once at the top of the kernel; equal expressions share one name.
  std::string at_top(const std::string& type, const std::string& hint,
                     const std::string& expression);
  int warp_bits() const;

  // ---- shared memory ----
  // Where scratch begins for the op being emitted.
  int64_t scratch_start() const;
  bool has_buffers() const { return !buffers_.empty(); }
  // Every thread reads from buffers only what it has copied there itself.
  bool buffers_are_private() const { return buffers_are_private_; }
  // Shared memory is needed up to `end`, for what `what` says.
  void reserve_shared(int64_t end, Span span, std::string_view what);
  // Where a reduction in a loop keeps its partial results, if they have a place of their own.
  std::optional<int64_t> own_partials(ir::OpId reduce) const {
    auto found = loop_partials_.places.find(reduce);
    return found == loop_partials_.places.end() ? std::nullopt : std::optional(found->second);
  }
  // A variable for the whole kernel, 0 at its beginning.
  std::string variable(const std::string& type, const std::string& hint);
  const BufferPlace& buffer(ir::ValueId value) const { return buffers_.at(value); }
  void barrier();
  void before_shared_write();  // a barrier, unless nobody can still be reading
  void after_shared_read() { shared_read_pending = true; }
  bool shared_read_pending = false;
  int shared_uses = 0;  // exchanges so far
  // Where the last reduction left its partial results: nobody waits for their readers if the next
  // one, in the same region, uses other memory.
  struct Partials {
    ir::RegionId region;
    int uses = -1;  // shared_uses behind it
    int64_t begin = 0, end = 0;
  } last_partials;

  // ---- unrolled loops ----
  // One statement for each i in 0 … count-1 with numbers from tables: a TW_EACH loop where all
  // tables are affine, else line by line. The body receives one expression a table.
  using Body = std::function<std::string(const std::vector<std::string>&)>;
  void each(const std::vector<std::vector<uint32_t>>& tables, const Body& body);

  void comment(std::string_view text) { out.line("// " + std::string(text)); }
  // The op being emitted, for messages.
  Span span() const { return span_; }

 private:
  void line_directive(Span span);
  void emit_parameters();
  void check_shared();
  Result<Source> finish();

  struct Converted {
    ir::ValueId value;
    layout::LinearLayout layout;
    View view;
  };

  Names names_;
  std::vector<analysis::AxisInfo> axes_;
  std::vector<View> views_;
  std::vector<bool> defined_;
  std::vector<std::vector<ir::OpId>> users_;
  std::vector<Converted> converted_;  // those made in the regions that are open
  LoopPartials loop_partials_;
  std::map<ir::ValueId, BufferPlace> buffers_;
  bool buffers_are_private_ = true;
  std::map<ir::OpId, OpRange> ranges_;
  OpRange at_ = {};  // of the op being emitted
  std::vector<std::string> preamble_;
  std::map<std::string, std::string> at_top_;
  bool need_thread_ = false;
  int64_t shared_bytes_ = 0;
  std::string shared_what_;
  Span shared_span_;
  Span span_;
  std::optional<ErrorInfo> error_;
  std::vector<std::string> parameters_;
  std::vector<ir::Type> parameter_types_;
  std::string entry_;
};

// The expression in parentheses if it has several words, and without such as enclose all of it.
std::string paren(const std::string& expression);
std::string without_parens(const std::string& expression);

}  // namespace tilewright::cuda
