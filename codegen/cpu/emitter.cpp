#include "codegen/cpu/emitter.h"

#include <fmt/format.h>

#include "dsl/base/check.h"

namespace tilewright::cpu {

using ir::Op;
using ir::OpNode;
using ir::ValueId;

namespace {

using StatementHandler = void (*)(Emitter&, const OpNode&);

// Element-wise ops have no statement of their own.
constexpr StatementHandler kStatements[] = {
#define TW_OP(name, ...) emit_##name,
#define TW_EW_OP(name, ...) nullptr,
#include "codegen/ir/ops.def"
#undef TW_OP
#undef TW_EW_OP
};
static_assert(std::size(kStatements) == ir::kOpCount);

// LLVM identifiers: what is no letter, digit, '_' or '.' must not reach the text.
std::string clean_name(const std::string& name) {
  std::string out;
  for (char c : name) {
    bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                 c == '_' || c == '.';
    out += plain ? c : '_';
  }
  return out.empty() ? "kernel" : out;
}

std::string key_of(ValueId id, const Index& index) {
  std::string key = std::to_string(id.index);
  for (const DimIndex& dim : index.dims) {
    key += '|' + dim.base.text();
    for (int64_t offset : dim.offsets) key += ',' + std::to_string(offset);
  }
  return key + '#' + std::to_string(index.width);
}

}  // namespace

std::string register_type(const ir::Type& type) {
  if (type.is_pointer) return "ptr";
  if (type.dtype == Dtype::kF32) return "float";
  if (type.dtype == Dtype::kF64) return "double";
  return "i" + std::to_string(dtype_bits(type.dtype));
}

std::string memory_type(const ir::Type& type) {
  return !type.is_pointer && type.dtype == Dtype::kI1 ? "i8" : register_type(type);
}

Emitter::Emitter(const ir::Module& module_in, int vector_bytes_in, const SourceMap* debug_sources)
    : module(module_in),
      vector_bytes(vector_bytes_in),
      plan_(make_plan(module_in, vector_bytes_in)),
      axes_(analysis::analyze_axes(module_in)),
      scalars_(module_in.value_count()),
      debug_sources_(debug_sources) {
  // Buffers and the kernel's memory never overlap: two scopes, each accessed apart from the other.
  buffer_scope_ = ", !alias.scope !1, !noalias !2";
  user_scope_ = ", !alias.scope !2, !noalias !1";
}

const std::string& Emitter::scalar(ValueId id) const {
  TW_CHECK(!scalars_[id.index].empty(), "a scalar is used before its definition");
  return scalars_[id.index];
}

const std::string& Emitter::program_id(int64_t axis) const {
  static const std::string names[] = {"%pid0", "%pid1", "%pid2"};
  TW_CHECK(axis >= 0 && axis < 3, "axis");
  return names[axis];
}

const std::string& Emitter::num_programs(int64_t axis) const {
  static const std::string names[] = {"%grid0", "%grid1", "%grid2"};
  TW_CHECK(axis >= 0 && axis < 3, "axis");
  return names[axis];
}

void Emitter::declare(const std::string& declaration) {
  for (const std::string& known : declarations_)
    if (known == declaration) return;
  declarations_.push_back(declaration);
}

void Emitter::define(const std::string& name, const std::string& body) {
  definitions_.try_emplace(name, body);
}

void Emitter::fail_if(const std::string& condition, Failure failure, const std::string& element) {
  failures_.push_back(std::move(failure));
  int64_t code = static_cast<int64_t>(failures_.size()) << 32;
  std::string bad = text.fresh_label("fail"), good = text.fresh_label("pass");
  text.branch_if(condition, bad, good);
  text.start_block(bad);
  std::string value = element.empty() ? std::to_string(code)
                                      : text.let(fmt::format("or i64 {}, {}", element, code));
  text.line("ret i64 " + value);
  text.start_block(good);
}

void Emitter::emit_region(ir::RegionId region) {
  for (ir::OpId id : module.region(region).ops) emit_op(module.op(id));
}

void Emitter::emit_op(const OpNode& op) {
  if (debug_sources_) text.set_location(location_of(op.span));
  const ir::OpInfo& info = ir::op_info(op.op);
  bool lane_op = info.family == ir::Family::kSource || info.family == ir::Family::kShape ||
                 info.family == ir::Family::kElementwise || op.op == Op::Hint;
  if (lane_op)
    emit_pure(op);
  else
    kStatements[static_cast<size_t>(op.op)](*this, op);
}

// Scalars are computed where they stand, buffered tiles are filled, lazy ones wait.
void Emitter::emit_pure(const OpNode& op) {
  for (size_t i = 0; i < op.results.size(); ++i) {
    ValueId result = op.results[i];
    if (type(result).is_scalar()) {
      values_.clear();
      set_scalar(result, compute(op, i, Index{}).scalar);
    } else if (plan_.is_buffer(result)) {
      fill(buffer_address(plan_.buffer[result.index]), result, true);
    }
  }
}

Lanes Emitter::lanes(ValueId id, const Index& index) {
  if (type(id).is_scalar()) return Lanes::uniform(scalar(id));
  std::string key = key_of(id, index);
  if (auto known = values_.find(key); known != values_.end()) return known->second;
  Lanes value = plan_.is_buffer(id)
                    ? read_buffer(buffer_address(plan_.buffer[id.index]), type(id), index)
                    : lanes_of_definition(id, index);
  values_.emplace(std::move(key), value);
  return value;
}

Lanes Emitter::lanes_of_definition(ValueId id, const Index& index) {
  const OpNode* def = module.def(id);
  TW_CHECK(def != nullptr, "a region argument has no buffer");
  return compute(*def, module.value(id).position, index);
}

Lanes Emitter::compute(const OpNode& op, size_t result, const Index& index) {
  if (!debug_sources_) return compute_here(op, result, index);
  // A lazy op keeps its own line, wherever it is computed.
  std::string outer = text.location();
  text.set_location(location_of(op.span));
  Lanes value = compute_here(op, result, index);
  text.set_location(outer);
  return value;
}

Lanes Emitter::compute_here(const OpNode& op, size_t result, const Index& index) {
  if (op.op == Op::Load) return load_lanes(op, index);
  if (ir::op_info(op.op).family != ir::Family::kElementwise)
    return shape_lanes(*this, op, result, index);
  std::vector<Lanes> operands;
  for (ValueId operand : op.operands) operands.push_back(lanes(operand, index));
  return apply(op, operands, index.width);
}

std::string Emitter::splat(const std::string& value, std::string_view scalar_type, int width) {
  if (width == 1) return value;
  if (is_constant(value)) return splat_constant(scalar_type, value, width);
  std::string vector = vector_type(scalar_type, width);
  std::string first =
      text.let(fmt::format("insertelement {} poison, {} {}, i32 0", vector, scalar_type, value));
  return text.let(fmt::format("shufflevector {0} {1}, {0} poison, {2} zeroinitializer", vector,
                              first, vector_type("i32", width)));
}

std::string Emitter::vector(const Lanes& value, const ir::Type& value_type, int width) {
  if (!value.vector.empty()) return value.vector;
  if (value.exact) return exact_vector(value.exact->op, value.exact->operands, width);
  std::string element = register_type(value_type);
  if (value.is_uniform()) return splat(value.scalar, element, width);
  TW_CHECK(static_cast<int>(value.offsets.size()) == width, "lanes of another width");
  std::string offsets = vector_constant(value_type.is_pointer ? "i64" : element, value.offsets);
  if (value_type.is_pointer)
    return text.let(fmt::format("getelementptr i8, ptr {}, {} {}", value.scalar,
                                vector_type("i64", width), offsets));
  std::string base = splat(value.scalar, element, width);
  return text.let(fmt::format("add {} {}, {}", vector_type(element, width), base, offsets));
}

// ---- the module ----

std::string Emitter::symbol() const {
  return clean_name(module.name);
}

void Emitter::load_arguments() {
  const ir::Region& body = module.region(module.body);
  for (size_t i = 0; i < body.args.size(); ++i) {
    const ir::Type& parameter = type(body.args[i]);
    std::string slot =
        text.let_in_entry(fmt::format("getelementptr inbounds i64, ptr %args, i64 {}", i));
    std::string value = text.let_in_entry(
        fmt::format("load {}, ptr {}, align 8, !invariant.load !0", memory_type(parameter), slot));
    if (!parameter.is_pointer && parameter.dtype == Dtype::kI1)
      value = text.let_in_entry(fmt::format("icmp ne i8 {}, 0", value));
    set_scalar(body.args[i], value);
  }
}

std::string Emitter::parameters() const {
  return "ptr noalias nocapture readonly %args, ptr noalias nocapture %arena, i32 %pid0, "
         "i32 %pid1, i32 %pid2, i32 %grid0, i32 %grid1, i32 %grid2";
}

std::string Emitter::function_attributes() const {
  std::string out = fmt::format(
      "nounwind \"prefer-vector-width\"=\"{0}\" "
      "\"min-legal-vector-width\"=\"{0}\"",
      vector_bytes * 8);
  if (debug_sources_) out += " \"frame-pointer\"=\"all\"";
  return out;
}

std::string Emitter::run() {
  load_arguments();
  emit_region(module.body);
  std::string debug = debug_text();  // first, as it completes the table of locations
  std::string out =
      fmt::format("; kernel {}, {} bytes of buffers\n", clean_name(module.name), plan_.arena_bytes);
  out += fmt::format("define i64 @{}({}) {}{} {{\nentry:\n", clean_name(module.name), parameters(),
                     function_attributes(), debug.empty() ? "" : " !dbg !6");
  out += text.entry_text() + text.body_text() + "}\n";
  for (const auto& [name, definition] : definitions_) out += "\n" + definition;
  out += declarations_.empty() ? "" : "\n";
  for (const std::string& declaration : declarations_) out += declaration + "\n";
  out +=
      "\n!0 = !{}\n!1 = !{!3}\n!2 = !{!4}\n"
      "!3 = distinct !{!3, !5, !\"buffers\"}\n!4 = distinct !{!4, !5, !\"memory\"}\n"
      "!5 = distinct !{!5, !\"kernel\"}\n";
  return out + debug;
}

// ---- debug metadata ----

std::string Emitter::location_of(Span span) {
  uint32_t line = 0, column = 0;
  if (span.valid() && span.file < debug_sources_->size()) {
    LineColumn at = debug_sources_->file(span.file).locate(span.begin);
    line = at.line;
    column = at.column;
  }
  constexpr int kFirst = 20;  // numbers below are the fixed nodes of debug_text
  auto number = kFirst + static_cast<int>(locations_.size());
  number = locations_.try_emplace({line, column}, number).first->second;
  return ", !dbg !" + std::to_string(number);
}

// The line table: compile unit, subprogram, locations. Helpers were expanded in place, so all lines
// belong to the kernel; the file is that of its first op with a place in a source.
std::string Emitter::debug_text() {
  if (!debug_sources_) return {};
  Span where;
  uint32_t first_line = 1;
  ir::walk(module, module.body, [&](ir::OpId id) {
    Span span = module.op(id).span;
    if (!where.valid() && span.valid() && span.file < debug_sources_->size()) where = span;
  });
  std::string path = "kernel.py";
  if (where.valid()) {
    path = debug_sources_->file(where.file).path();
    first_line = debug_sources_->file(where.file).locate(where.begin).line;
  }
  size_t slash = path.rfind('/');
  std::string folder = slash == path.npos ? "." : path.substr(0, slash);
  std::string file = slash == path.npos ? path : path.substr(slash + 1);
  auto quoted = [](const std::string& raw) {
    std::string out;
    for (char c : raw)
      out += c == '"' || c == '\\' || c < ' ' ? fmt::format("\\{:02X}", c) : std::string(1, c);
    return out;
  };
  std::string out = "\n!llvm.dbg.cu = !{!7}\n!llvm.module.flags = !{!8, !9}\n";
  out += fmt::format(
      "!6 = distinct !DISubprogram(name: \"{0}\", linkageName: \"{0}\", scope: !10, file: !10, "
      "line: {1}, type: !11, scopeLine: {1}, spFlags: DISPFlagDefinition | DISPFlagOptimized, "
      "unit: !7)\n",
      clean_name(module.name), first_line);
  out +=
      "!7 = distinct !DICompileUnit(language: DW_LANG_Python, file: !10, producer: "
      "\"tilewright\", isOptimized: true, runtimeVersion: 0, emissionKind: FullDebug)\n"
      "!8 = !{i32 2, !\"Debug Info Version\", i32 3}\n!9 = !{i32 2, !\"Dwarf Version\", i32 4}\n";
  out += fmt::format("!10 = !DIFile(filename: \"{}\", directory: \"{}\")\n", quoted(file),
                     quoted(folder));
  out += "!11 = !DISubroutineType(types: !12)\n!12 = !{null}\n";
  for (const auto& [at, number] : locations_)
    out += fmt::format("!{} = !DILocation(line: {}, column: {}, scope: !6)\n", number, at.first,
                       at.second);
  return out;
}

}  // namespace tilewright::cpu
