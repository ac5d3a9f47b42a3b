// Reading and writing the plan's buffers. Elements lie in row-major order; i1 takes a byte.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>

#include "codegen/cpu/emitter.h"
#include "dsl/base/check.h"

namespace tilewright::cpu {
namespace {

// An index as one number into the row-major buffer.
DimIndex linearize(Emitter& e, const ir::Shape& shape, const Index& index) {
  DimIndex out;
  out.offsets.assign(static_cast<size_t>(index.width), 0);
  int64_t stride = 1;
  for (size_t d = shape.size(); d-- > 0;) {
    out.base = e.add(out.base, e.multiply(index.dims[d].base, stride));
    for (size_t l = 0; l < out.offsets.size(); ++l)
      out.offsets[l] += index.dims[d].offset(l) * stride;
    stride *= shape[d];
  }
  return out;
}

bool is_run(const std::vector<int64_t>& offsets) {
  for (size_t l = 0; l < offsets.size(); ++l)
    if (offsets[l] != static_cast<int64_t>(l)) return false;
  return true;
}

std::string element_address(Emitter& e, const std::string& address, const ir::Type& type,
                            const I64& position) {
  if (position.is_zero()) return address;
  return e.text.let(fmt::format("getelementptr inbounds {}, ptr {}, i64 {}", memory_type(type),
                                address, position.text()));
}

// i1 is a byte in memory.
std::string from_memory(Emitter& e, const ir::Type& type, int width, const std::string& value) {
  if (type.is_pointer || type.dtype != Dtype::kI1) return value;
  return e.text.let(
      fmt::format("trunc {} {} to {}", vector_type("i8", width), value, vector_type("i1", width)));
}

std::string to_memory(Emitter& e, const ir::Type& type, int width, const std::string& value) {
  if (type.is_pointer || type.dtype != Dtype::kI1) return value;
  return e.text.let(
      fmt::format("zext {} {} to {}", vector_type("i1", width), value, vector_type("i8", width)));
}

int alignment(const ir::Type& type, int64_t elements) {
  return static_cast<int>(std::min<int64_t>(64, elements * type.element_bytes()));
}

std::string load_run(Emitter& e, const std::string& address, const ir::Type& type, int width,
                     int align) {
  return e.text.let(fmt::format("load {}, ptr {}, align {}{}",
                                vector_type(memory_type(type), width), address, align,
                                e.buffer_scope()));
}

}  // namespace

std::string Emitter::buffer_address(int64_t offset) {
  TW_CHECK(offset != kNoBuffer, "a value has no buffer");
  auto [at, fresh] = addresses_.try_emplace(offset);
  if (fresh)
    at->second =
        text.let_in_entry(fmt::format("getelementptr inbounds i8, ptr %arena, i64 {}", offset));
  return at->second;
}

Lanes Emitter::read_buffer(const std::string& address, const ir::Type& type, const Index& index) {
  DimIndex at = linearize(*this, type.shape, index);
  std::string start = element_address(*this, address, type, at.base);
  auto [low, high] = std::minmax_element(at.offsets.begin(), at.offsets.end());
  int width = index.width;
  if (*low == *high)
    return Lanes::uniform(
        from_memory(*this, type, 1, load_run(*this, start, type, 1, type.element_bytes())));
  if (is_run(at.offsets))
    return Lanes::of_vector(from_memory(
        *this, type, width, load_run(*this, start, type, width, alignment(type, width))));
  std::string element = memory_type(type), vector = vector_type(element, width);
  // Lanes from a short stretch: one load and a shuffle. It may read past the end of the buffer, by
  // less than the arena's padding.
  int64_t span = std::bit_ceil(static_cast<uint64_t>(*high + 1));
  if (span <= 2 * width) {
    std::string run = load_run(*this, start, type, static_cast<int>(span), type.element_bytes());
    std::string run_type = vector_type(element, static_cast<int>(span));
    std::string shuffled =
        text.let(fmt::format("shufflevector {} {}, {} poison, {} {}", run_type, run, run_type,
                             vector_type("i32", width), vector_constant("i32", at.offsets)));
    return Lanes::of_vector(from_memory(*this, type, width, shuffled));
  }
  std::string gathered = "poison";
  for (int l = 0; l < width; ++l) {
    std::string from =
        element_address(*this, start, type, {at.offsets[static_cast<size_t>(l)], {}});
    std::string one = load_run(*this, from, type, 1, type.element_bytes());
    gathered = text.let(
        fmt::format("insertelement {} {}, {} {}, i32 {}", vector, gathered, element, one, l));
  }
  return Lanes::of_vector(from_memory(*this, type, width, gathered));
}

void Emitter::write_buffer(const std::string& address, const ir::Type& type, const Index& index,
                           const Lanes& value) {
  DimIndex at = linearize(*this, type.shape, index);
  std::string start = element_address(*this, address, type, at.base);
  int width = index.width;
  std::string element = memory_type(type), vector_text = vector_type(element, width);
  std::string exact = to_memory(*this, type, width, vector(value, type, width));
  if (is_run(at.offsets)) {
    text.line(fmt::format("store {} {}, ptr {}, align {}{}", vector_text, exact, start,
                          width == 1 ? type.element_bytes() : alignment(type, width),
                          buffer_scope_));
    return;
  }
  for (int l = 0; l < width; ++l) {
    std::string to = element_address(*this, start, type, {at.offsets[static_cast<size_t>(l)], {}});
    text.line(fmt::format("store {} {}, ptr {}, align {}{}", element,
                          lane_of(exact, vector_text, l), to, type.element_bytes(), buffer_scope_));
  }
}

void Emitter::fill(const std::string& address, ir::ValueId value, bool definition) {
  const ir::Type& value_type = type(value);
  for_chunks(
      value_type.shape, kChunk,
      [&](const Index& index) {
        Lanes elements = definition ? lanes_of_definition(value, index) : lanes(value, index);
        write_buffer(address, value_type, index, elements);
      },
      definition ? lane_dim_of_definition(value) : lane_dim_of(value));
}

std::string Emitter::lane_of(const std::string& value, const std::string& value_type, int lane) {
  if (value_type[0] != '<') return value;
  return text.let(fmt::format("extractelement {} {}, i32 {}", value_type, value, lane));
}

}  // namespace tilewright::cpu
