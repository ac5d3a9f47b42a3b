#include "codegen/cuda/emitter.h"

#include <fmt/format.h>

#include <bit>

#include "codegen/cuda/emit_ops.h"
#include "codegen/cuda/orientation.h"
#include "codegen/cuda/residency.h"
#include "codegen/cuda/schedule_to_fit.h"
#include "codegen/cuda/streams.h"
#include "codegen/layout/f2.h"
#include "codegen/passes/combine_atomics.h"
#include "codegen/passes/expand_dots.h"
#include "codegen/passes/merge_reductions.h"
#include "codegen/passes/passes.h"
#include "codegen/schedule/sweeps.h"
#include "dsl/base/check.h"

namespace tilewright::cuda {

using layout::LinearLayout;

namespace {

constexpr int kRegisterUnit = 8;  // a thread's registers are allocated by

bool is_identifier(const std::string& text) {
  if (text == "true" || text == "false" || text.empty() || (text[0] >= '0' && text[0] <= '9'))
    return false;
  return text.find_first_not_of(
             "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == text.npos;
}

}  // namespace

// ---- View ----

uint32_t View::index(uint32_t r) const {
  return layout::f2::apply(columns, r);
}

std::vector<uint32_t> View::indices(const std::vector<uint32_t>& registers) const {
  std::vector<uint32_t> result;
  for (uint32_t r : registers) result.push_back(index(r));
  return result;
}

std::string View::element(const std::string& index) const {
  return is_array ? name + "[" + without_parens(index) + "]" : name;
}

std::string View::at(const std::string& variable) const {
  return is_array ? element(linear_expression({{variable, columns}})) : name;
}

std::string View::value(const std::string& variable) const {
  std::vector<std::string> indices = {linear_expression({{variable, columns}})};
  for (const View& offset : more)
    indices.push_back(linear_expression({{variable, offset.columns}}));
  return value(indices, 0);
}

void View::add_indices(std::vector<std::vector<uint32_t>>& tables,
                       const std::vector<uint32_t>& registers) const {
  tables.push_back(indices(registers));
  for (const View& offset : more) tables.push_back(offset.indices(registers));
}

std::string View::value(const std::vector<std::string>& indices, size_t first) const {
  std::string entry = element(indices[first]);
  if (!type.is_pointer || uniform || base.empty()) return entry;
  if (scale == 1 && more.empty()) return base + " + " + entry;
  // What was added last is most often the same in all iterations of a loop: next to the base.
  std::string text = base;
  for (size_t k = more.size(); k-- > 0;)
    text += fmt::format(" + (i64){} * {}", more[k].element(indices[first + 1 + k]), scale);
  return text + fmt::format(" + (i64){} * {}", entry, scale);
}

bool View::is_contiguous(int width) const {
  if (width == 1) return true;
  if (!is_array) return false;
  uint32_t covered = 0;
  for (size_t b = 0; b < columns.size(); ++b) {
    bool inside = (1 << b) < width;
    if (inside && columns[b] != 1u << b) return false;
    if (inside) covered |= 1u << b;
  }
  for (size_t b = 0; b < columns.size(); ++b)
    if ((1 << b) >= width && (columns[b] & static_cast<uint32_t>(width - 1)) != 0) return false;
  return covered == static_cast<uint32_t>(width - 1);
}

bool View::is_plain() const {
  if (uniform) return false;
  for (size_t b = 0; b < columns.size(); ++b)
    if (columns[b] != 1u << b) return false;
  return !type.is_pointer || base.empty();
}

// ---- the kernel ----

Emitter::Emitter(const ir::Module& module, const LayoutAssignment& assignment, const Target& target,
                 const Options& options)
    : module(module), assignment(assignment), target(target), options(options) {
  views_.resize(module.value_count());
  defined_.resize(module.value_count());
  users_.resize(module.value_count());
  ir::walk(module, module.body, [&](ir::OpId id) {
    for (ir::ValueId operand : module.op(id).operands) users_[operand.index].push_back(id);
  });
  names_.fresh("thread");
  axes_ = analysis::analyze_axes(module);
  ranges_ = op_ranges(module);
  loop_partials_ = place_loop_partials(module, assignment);
  buffers_ = place_buffers(module, assignment, ranges_, loop_partials_.end);
  for (const auto& [buffer, place] : buffers_)
    buffers_are_private_ &= is_private_buffer(module, assignment, target, buffer);
}

void Emitter::fail(ErrorInfo error) {
  if (!error_) error_ = std::move(error);
}

int Emitter::warp_bits() const {
  return std::countr_zero(static_cast<unsigned>(assignment.warps));
}

Result<Source> Emitter::run() {
  entry_ = names_.fresh(module.name);
  emit_parameters();
  ir::OpId terminator = emit_region(module.body);
  TW_CHECK(module.op(terminator).op == ir::Op::Return, "a kernel ends with return");
  check_shared();
  if (error_) return *error_;
  return finish();
}

void Emitter::emit_parameters() {
  const ir::Region& body = module.region(module.body);
  for (size_t i = 0; i < body.args.size(); ++i) {
    const ir::Type& type = module.type(body.args[i]);
    std::string name = names_.fresh(module.params[i].name);
    View view{.type = type, .layout = {}, .name = name, .uniform = true};
    if (!type.is_pointer && type.dtype == Dtype::kI1) {
      // A byte in memory may be any value but 0.
      view.name = names_.fresh(module.params[i].name + "_set");
      parameters_.push_back("u8 " + name);
      preamble_.push_back(fmt::format("const bool {} = {} != 0;", view.name, name));
    } else {
      parameters_.push_back(type_name(type) + " " + name);
    }
    parameter_types_.push_back(type);
    define(body.args[i], std::move(view));
  }
}

Result<Source> Emitter::finish() {
  Source source;
  source.entry = entry_;
  source.threads = assignment.warps * 32;
  source.shared_bytes = static_cast<int>(shared_bytes_);
  source.params = parameter_types_;
  source.sm = target.sm;
  // The author's bound on registers stands in for ours. ptxas is then not told the number of
  // threads, so a block must fit by it.
  source.max_registers = static_cast<int>(module.attrs.get_int("maxnreg", 0));
  if (source.max_registers > 0)
    source.max_registers = std::min(source.max_registers, target.registers_per_sm / source.threads /
                                                              kRegisterUnit * kRegisterUnit);
  if (source.max_registers == 0)
    source.min_blocks = wanted_blocks(module, assignment, target, shared_bytes_);
  std::string text = fmt::format("// {} for {}: {} threads, {} bytes of shared memory.\n", entry_,
                                 target.name, source.threads, shared_bytes_);
  if (source.max_registers > 0)
    text += fmt::format("TW_KERNEL_REGISTERS({}, {})", source.threads, source.max_registers);
  else if (source.min_blocks > 1)
    text += fmt::format("TW_KERNEL_BLOCKS({}, {})", source.threads, source.min_blocks);
  else
    text += fmt::format("TW_KERNEL({})", source.threads);
  text += fmt::format(" void {}(", entry_);
  for (size_t i = 0; i < parameters_.size(); ++i) text += (i > 0 ? ", " : "") + parameters_[i];
  text += ") {\n";
  if (need_thread_) text += "  const u32 thread = tw_thread_id();\n";
  for (const std::string& line : preamble_) text += "  " + line + "\n";
  source.text = text + out.text() + "}\n";
  return source;
}

void Emitter::check_shared() {
  if (assignment.warps * 32 > 1024)
    fail(make_error(DiagKind::kOutOfResources,
                    fmt::format("{} warps are {} threads, a program may have 1024",
                                assignment.warps, assignment.warps * 32),
                    "lower num_warps to 32 or less"));
  if (shared_bytes_ <= target.shared_per_block) return;
  Diagnostic diagnostic;
  diagnostic.kind = DiagKind::kOutOfResources;
  diagnostic.span = shared_span_;
  diagnostic.message = fmt::format("{} needs {} bytes of shared memory, {} allows {}", shared_what_,
                                   shared_bytes_, target.name, target.shared_per_block);
  ErrorInfo error = make_error(diagnostic.kind, diagnostic.message,
                               "lower the tile's extents (BLOCK_* constants) or num_stages");
  if (options.sources && shared_span_.valid()) error.details = render(diagnostic, *options.sources);
  fail(std::move(error));
}

// ---- ops ----

namespace {

using Handler = void (*)(Emitter&, ir::OpId);

constexpr Handler kHandlers[] = {
#define TW_OP(name, ...) emit_##name,
#define TW_EW_OP(name, ...) emit_elementwise,
#include "codegen/ir/ops.def"
#undef TW_OP
#undef TW_EW_OP
};

// "/tw/<path>": a root of its own makes messages and profiles independent of the machine.
std::string rooted(const std::string& path) {
  std::string safe;
  for (char c : path) safe += c == '"' || c == '\\' || c == '\n' ? '_' : c;
  return path.starts_with("/") ? safe : "/tw/" + safe;
}

}  // namespace

void Emitter::line_directive(Span span) {
  if (!options.line_info || !options.sources || !span.valid()) return;
  const SourceFile& file = options.sources->file(span.file);
  out.before_each(
      fmt::format("#line {} \"{}\"\n", file.locate(span.begin).line, rooted(file.path())));
}

void Emitter::emit_op(ir::OpId id) {
  const ir::OpNode& op = module.op(id);
  Span outer = span_;
  OpRange outer_range = at_;
  span_ = op.span;
  at_ = ranges_.at(id);
  line_directive(span_);
  kHandlers[static_cast<int>(op.op)](*this, id);
  // The last reads of a buffer may still be under way when its memory is used again.
  for (const auto& [value, place] : buffers_)
    if (place.live.first < at_.first && at_.first <= place.live.last && place.live.last <= at_.last)
      shared_read_pending = true;
  span_ = outer;
  at_ = outer_range;
  line_directive(span_);  // an op may be emitted in the middle of another
}

ir::OpId Emitter::emit_region(ir::RegionId id, const std::vector<ir::OpId>* order) {
  size_t converted = converted_.size();
  const ir::Region& region = module.region(id);
  for (ir::OpId op : order ? *order : region.ops) {
    if (ir::op_info(module.op(op).op).has(ir::kTerminator)) break;
    emit_op(op);
  }
  converted_.resize(converted);
  return region.ops.back();
}

// ---- values ----

const View& Emitter::view(ir::ValueId value) const {
  TW_CHECK(defined_[value.index], "use of a value that has no text");
  return views_[value.index];
}

void Emitter::define(ir::ValueId value, View view) {
  views_[value.index] = std::move(view);
  defined_[value.index] = true;
}

const LinearLayout& Emitter::layout_of(ir::ValueId value) const {
  return assignment.values[value.index];
}

std::string Emitter::name_for(ir::ValueId value) {
  const std::string& hint = module.value(value).name;
  return names_.fresh(hint.empty() ? "v" + std::to_string(value.index) : hint);
}

View Emitter::use(ir::OpId op, int index) {
  ir::ValueId value = module.op(op).operands[static_cast<size_t>(index)];
  const View& from = view(value);
  if (from.type.is_scalar()) return from;
  LinearLayout wanted = required_layout(module, assignment, op, index);
  if (from.layout == wanted) return from;
  if (from.uniform) {
    View moved = from;
    moved.layout = std::move(wanted);
    return moved;
  }
  for (const Converted& entry : converted_)
    if (entry.value == value && entry.layout == wanted) return entry.view;
  View moved = convert(from, wanted, module.value(value).name);
  converted_.push_back({value, std::move(wanted), moved});
  return moved;
}

View Emitter::declare(const ir::Type& type, const LinearLayout& layout, const std::string& name) {
  View view{.type = type, .layout = layout, .name = name};
  int registers = type.is_scalar() ? 1 : layout.registers();
  view.uniform = type.is_scalar();
  view.is_array = registers > 1;
  for (int b = 1; b < registers; b *= 2) view.columns.push_back(static_cast<uint32_t>(b));
  out.line(registers > 1 ? fmt::format("{} {}[{}];", type_name(type), name, registers)
                         : fmt::format("{} {};", type_name(type), name));
  return view;
}

View Emitter::make_each(const ir::Type& type, const LinearLayout& layout, const std::string& name,
                        bool uniform, const Element& element) {
  int registers = type.is_scalar() || uniform ? 1 : layout.registers();
  if (registers > 1) {
    View view = declare(type, layout, name);
    out.line(fmt::format("TW_EACH(i, {}) {}[i] = {};", registers, name, element("i")));
    return view;
  }
  View view{.type = type, .layout = layout, .name = name, .uniform = uniform || type.is_scalar()};
  out.line(fmt::format("const {} {} = {};", type_name(type), name, element("0")));
  return view;
}

// Leading bits of register numbers that stay within blocks of equal elements.
int Emitter::repeated_bits(ir::ValueId value) const {
  const LinearLayout& layout = layout_of(value);
  const analysis::AxisInfo& axes = axes_[value.index];
  uint32_t within = 0, stride = 1;
  for (size_t d = layout.shape.size(); d-- > 0;) {
    within |= static_cast<uint32_t>(axes.constancy[d] - 1) * stride;
    stride *= static_cast<uint32_t>(layout.shape[d]);
  }
  size_t bits = 0;
  while (bits < layout.reg.size() && (layout.reg[bits] & ~within) == 0) ++bits;
  return static_cast<int>(bits);
}

void Emitter::define_each(ir::ValueId result, bool uniform, const Element& element) {
  define(result,
         make_each(module.type(result), layout_of(result), name_for(result), uniform, element));
}

void Emitter::assign(const View& to, const View& from) {
  if (to.is_array)
    out.line(fmt::format("TW_EACH(i, {}) {}[i] = {};", to.registers(), to.name, from.value("i")));
  else
    out.line(fmt::format("{} = {};", to.name, from.value("0")));
}

View Emitter::contiguous(const View& view, int width, std::string_view hint) {
  bool has_storage = view.is_array ? view.is_contiguous(width) : is_identifier(view.name);
  if (has_storage && (view.is_array || width == 1)) return view;
  View source = view;
  source.uniform = false;
  return make_each(view.type, view.layout, fresh(hint), false,
                   [&](const std::string& i) { return source.at(i); });
}

std::string Emitter::pointer(const View& view, const std::string& index) {
  if (!view.is_array) return "&" + view.name;
  return index == "0" ? view.name : view.name + " + " + index;
}

View Emitter::single_offset(const View& view, std::string_view hint) {
  if (view.more.empty()) return view;
  ir::Type type = ir::Type::tile(Dtype::kI64, view.type.shape);
  View sum = make_each(type, view.layout, fresh(hint), false, [&](const std::string& i) {
    std::string text = "(i64)" + view.at(i);
    for (const View& offset : view.more) text += " + (i64)" + offset.at(i);
    return text;
  });
  sum.type = view.type;
  sum.base = view.base;
  sum.offset_dtype = Dtype::kI64;
  sum.scale = view.scale;
  return sum;
}

// ---- the thread's place ----

std::string Emitter::at_top(const std::string& type, const std::string& hint,
                            const std::string& expression) {
  auto [it, added] = at_top_.emplace(type + " " + expression, "");
  if (added) {
    it->second = names_.fresh(hint);
    preamble_.push_back(fmt::format("const {} {} = {};", type, it->second, expression));
  }
  return it->second;
}

std::string Emitter::thread_map(const std::vector<uint32_t>& lane,
                                const std::vector<uint32_t>& warp) {
  std::vector<uint32_t> columns = lane;
  columns.resize(layout::kLaneBits, 0);
  columns.insert(columns.end(), warp.begin(), warp.end());
  columns.resize(static_cast<size_t>(layout::kLaneBits + warp_bits()), 0);
  if (reach(columns) == 0) return {};
  std::string expression = without_parens(linear_expression({{"thread", columns}}));
  thread();
  if (expression == "thread") return expression;
  // The main loop of a dot has more use for instructions than for registers.
  return at_top("u32", "at",
                assignment.dots.empty() ? expression : fmt::format("tw_keep({})", expression));
}

std::string Emitter::none_of(uint32_t lanes, uint32_t warps) {
  uint32_t mask = (lanes & 31) | (warps & ((1u << warp_bits()) - 1)) << layout::kLaneBits;
  if (mask == 0) return {};
  thread();
  uint32_t all = (1u << (layout::kLaneBits + warp_bits())) - 1;
  return at_top("bool", "holds",
                mask == all ? "thread == 0" : fmt::format("(thread & {}) == 0", mask));
}

// ---- shared memory ----

std::string Emitter::variable(const std::string& type, const std::string& hint) {
  std::string name = names_.fresh(hint);
  preamble_.push_back(fmt::format("{} {} = 0;", type, name));
  return name;
}

int64_t Emitter::scratch_start() const {
  int64_t start = loop_partials_.end;
  for (const auto& [value, place] : buffers_)
    if (place.live.first <= at_.first && at_.first <= place.live.last)
      start = std::max(start, place.end());
  return start;
}

void Emitter::reserve_shared(int64_t end, Span span, std::string_view what) {
  ++shared_uses;
  if (end <= shared_bytes_) return;
  shared_bytes_ = end;
  shared_span_ = span;
  shared_what_ = what;
}

void Emitter::barrier() {
  out.line("tw_barrier();");
  shared_read_pending = false;
}

void Emitter::before_shared_write() {
  if (shared_read_pending) barrier();
}

// ---- unrolled loops ----

void Emitter::each(const std::vector<std::vector<uint32_t>>& tables, const Body& body) {
  TW_CHECK(!tables.empty(), "each needs a table");
  size_t count = tables[0].size();
  std::vector<std::string> expressions;
  bool affine = count > 1 && std::has_single_bit(count);
  for (size_t t = 0; t < tables.size() && affine; ++t) {
    auto columns = affine_columns(tables[t]);
    affine = columns.has_value();
    if (affine) expressions.push_back(linear_expression({{"i", *columns}}, tables[t][0]));
  }
  if (affine) {
    out.line(fmt::format("TW_EACH(i, {}) {}", count, body(expressions)));
    return;
  }
  for (size_t i = 0; i < count; ++i) {
    expressions.clear();
    for (const auto& table : tables) expressions.push_back(std::to_string(table[i]));
    out.line(body(expressions));
  }
}

std::string paren(const std::string& expression) {
  return expression.find(' ') == expression.npos ? expression : "(" + expression + ")";
}

std::string without_parens(const std::string& expression) {
  if (expression.empty() || expression[0] != '(') return expression;
  int depth = 0;
  for (size_t i = 0; i < expression.size(); ++i) {
    if (expression[i] == '(') ++depth;
    if (expression[i] == ')' && --depth == 0)
      return i + 1 == expression.size() ? expression.substr(1, i - 1) : expression;
  }
  return expression;
}

// ---- entry ----

Result<Source> emit(const ir::Module& module, const Target& target, const Options& options) {
  ir::Module prepared = module;
  passes::expand_dots(prepared, [&](const ir::Module& in, const ir::OpNode& dot) {
    return find_unit(target, dot_types(in, dot)).has_value();
  });
  orient_dots(prepared, target);
  passes::narrow_casts(prepared);
  mark_streams(prepared);
  passes::combine_atomics(prepared);
  schedule::merge_sweeps(prepared);
  return schedule_to_fit(prepared, target, [&](ir::Module& scheduled) -> Result<Source> {
    passes::skip_masks(scheduled);
    passes::merge_reductions(scheduled);
    TW_ASSIGN(LayoutAssignment assignment, assign_layouts(scheduled, target));
    return Emitter(scheduled, assignment, target, options).run();
  });
}

}  // namespace tilewright::cuda
