// Mode `interp`: runs IR text in the interpreter and shows the buffers afterwards, or the error.
//
//   # test: interp grid=2,1,1 arg=i32[1,2,3,4] arg=f32=1.5 fuel=1000
//
// Arguments are in parameter order: `dtype[a,b,…]` is a pointer to these elements, `dtype=x` a
// scalar. Accesses outside of the buffers are errors.
#include <cmath>
#include <deque>
#include <sstream>

#include "codegen/interp/interp.h"
#include "dsl/base/numeric.h"
#include "tests/golden/golden.h"

namespace tilewright::golden {
namespace {

struct Buffer {
  size_t argument;
  Dtype dtype;
  std::vector<uint8_t> bytes;
};

uint64_t parse_bits(const std::string& text, Dtype dtype) {
  return is_float(dtype) ? float_to_bits(std::stod(text), dtype)
                         : int_to_bits(static_cast<int64_t>(std::stoll(text)), dtype);
}

std::string show(const Buffer& buffer) {
  std::ostringstream out;
  out << "argument " << buffer.argument << ":";
  size_t size = static_cast<size_t>(dtype_bytes(buffer.dtype));
  for (size_t at = 0; at < buffer.bytes.size(); at += size) {
    uint64_t bits = 0;
    std::copy_n(&buffer.bytes[at], size, reinterpret_cast<uint8_t*>(&bits));
    out << ' ';
    if (is_float(buffer.dtype))
      out << bits_to_float(bits, buffer.dtype);
    else
      out << bits_to_int(bits, buffer.dtype);
  }
  return out.str() + "\n";
}

struct Arguments {
  std::deque<Buffer> buffers;  // addresses stay
  std::vector<uint64_t> slots;

  void add(const std::string& text) {
    size_t split = text.find_first_of("[=");
    Dtype dtype = parse_dtype(text.substr(0, split)).value();
    std::istringstream values(text.substr(split + 1));
    if (text[split] == '=') return slots.push_back(parse_bits(text.substr(split + 1), dtype));
    Buffer& buffer = buffers.emplace_back(Buffer{slots.size(), dtype, {}});
    for (std::string value; std::getline(values, value, ',');) {
      uint64_t bits = parse_bits(value, dtype);
      auto* bytes = reinterpret_cast<const uint8_t*>(&bits);
      buffer.bytes.insert(buffer.bytes.end(), bytes, bytes + dtype_bytes(dtype));
    }
    slots.push_back(reinterpret_cast<uint64_t>(buffer.bytes.data()));
  }

  bool covers(uint64_t address, size_t bytes) const {
    for (const Buffer& b : buffers) {
      auto begin = reinterpret_cast<uint64_t>(b.bytes.data());
      if (address >= begin && address + bytes <= begin + b.bytes.size()) return true;
    }
    return false;
  }
};

}  // namespace

std::string run_interp(const Case& golden_case) {
  auto module = ir::parse(golden_case.path, golden_case.input);
  if (!module) return module.error().text() + "\n";
  if (Status ok = ir::verify(*module); !ok) return ok.error().text() + "\n";
  Arguments arguments;
  Launch launch;
  interp::Options options;
  SourceMap sources;
  sources.add(golden_case.path, golden_case.input);
  options.sources = &sources;
  if (auto it = golden_case.options.find("arg"); it != golden_case.options.end()) {
    std::istringstream list(it->second);
    for (std::string text; std::getline(list, text, ';');) arguments.add(text);
  }
  if (auto it = golden_case.options.find("grid"); it != golden_case.options.end()) {
    std::istringstream list(it->second);
    std::string text;
    for (size_t axis = 0; axis < 3 && std::getline(list, text, ','); ++axis)
      launch.grid[axis] = static_cast<uint32_t>(std::stoul(text));
  }
  if (auto it = golden_case.options.find("fuel"); it != golden_case.options.end())
    options.fuel = std::stoull(it->second);
  options.may_access = [&](uint64_t address, size_t bytes, bool) {
    return arguments.covers(address, bytes);
  };
  launch.arguments = arguments.slots;
  Status status = interp::run(*module, launch, options);
  if (!status) return status.error().text() + "\n";
  std::string out;
  for (const Buffer& buffer : arguments.buffers) out += show(buffer);
  return out;
}

}  // namespace tilewright::golden
