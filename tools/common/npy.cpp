#include "tools/common/npy.h"

#include <fmt/format.h>

#include <cstring>
#include <fstream>
#include <iterator>

namespace tilewright::tools {
namespace {

constexpr std::string_view kMagic("\x93NUMPY", 6);

struct DescrRow {
  std::string_view descr;  // without the byte order
  Dtype dtype;
};
constexpr DescrRow kDescrs[] = {
    {"b1", Dtype::kI1},   {"i1", Dtype::kI8},  {"i2", Dtype::kI16}, {"i4", Dtype::kI32},
    {"i8", Dtype::kI64},  {"u1", Dtype::kU8},  {"u2", Dtype::kU16}, {"u4", Dtype::kU32},
    {"u8", Dtype::kU64},  {"f2", Dtype::kF16}, {"f4", Dtype::kF32}, {"f8", Dtype::kF64},
    {"V2", Dtype::kBF16},
};

ErrorInfo bad(const std::string& path, std::string_view why) {
  return make_error(DiagKind::kIo, fmt::format("{} cannot be read as .npy: {}", path, why),
                    "numpy.save writes such a file; arrays must be in C order and little endian");
}

// The text after `'key':` in the header's dictionary, up to the next comma outside parentheses.
std::string field(std::string_view header, std::string_view key) {
  size_t at = header.find(fmt::format("'{}':", key));
  if (at == header.npos) return {};
  at += key.size() + 3;
  size_t end = at;
  for (int depth = 0; end < header.size(); ++end) {
    if (header[end] == '(') ++depth;
    if (header[end] == ')') --depth;
    if ((header[end] == ',' || header[end] == '}') && depth == 0) break;
  }
  std::string_view value = header.substr(at, end - at);
  while (!value.empty() && value.front() == ' ') value.remove_prefix(1);
  while (!value.empty() && value.back() == ' ') value.remove_suffix(1);
  return std::string(value);
}

// "(3, 4)" or "(3,)" or "()"; false if it is not a tuple of sizes.
bool parse_shape(std::string_view text, std::vector<int64_t>& shape) {
  if (text.size() < 2 || text.front() != '(' || text.back() != ')') return false;
  int64_t extent = -1;
  for (char c : text.substr(1)) {
    if (c >= '0' && c <= '9') {
      if (extent > (int64_t{1} << 50)) return false;
      extent = (extent < 0 ? 0 : extent) * 10 + (c - '0');
    } else if (c == ',' || c == ')') {
      if (extent >= 0) shape.push_back(extent);
      extent = -1;
    } else if (c != ' ') {
      return false;
    }
  }
  return true;
}

}  // namespace

Result<HostTensor> read_npy(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return make_error(DiagKind::kIo, fmt::format("{} cannot be opened", path));
  std::string text{std::istreambuf_iterator<char>(in), {}};
  if (!text.starts_with(kMagic) || text.size() < 12)
    return bad(path, "it does not begin with the magic bytes");
  bool wide = text[6] >= 2;  // header length: 2 bytes in version 1, 4 later
  size_t prefix = wide ? 12 : 10, length = 0;
  for (size_t i = 0; i < (wide ? 4u : 2u); ++i)
    length |= static_cast<size_t>(static_cast<uint8_t>(text[8 + i])) << (8 * i);
  if (text.size() < prefix + length) return bad(path, "its header is cut off");
  std::string_view header = std::string_view(text).substr(prefix, length);
  std::string descr = field(header, "descr");
  if (descr.size() < 5) return bad(path, "its header has no simple dtype");
  if (field(header, "fortran_order") != "False") return bad(path, "it is in Fortran order");
  if (descr[1] == '>') return bad(path, "it is big endian");
  HostTensor array;
  bool known = false;
  for (const DescrRow& row : kDescrs)
    if (row.descr == std::string_view(descr).substr(2, descr.size() - 3)) {
      array.dtype = row.dtype;
      known = true;
    }
  if (!known) return bad(path, fmt::format("dtype {} is not supported", descr));
  if (!parse_shape(field(header, "shape"), array.shape)) return bad(path, "its shape is malformed");
  size_t available = text.size() - prefix - length, needed = dtype_bytes(array.dtype);
  for (int64_t extent : array.shape) {
    if (extent != 0 && needed > available / static_cast<size_t>(extent))
      return bad(path, "its data is cut off");
    needed *= static_cast<size_t>(extent);
  }
  array.bytes.assign(text.end() - static_cast<long>(available), text.end());
  array.bytes.resize(needed);
  return array;
}

Status write_npy(const std::string& path, const HostTensor& array) {
  std::string descr = is_fp8(array.dtype) ? "u1" : array.dtype == Dtype::kBF16 ? "V2" : "";
  for (const DescrRow& row : kDescrs)
    if (descr.empty() && row.dtype == array.dtype) descr = row.descr;
  std::string shape;
  for (int64_t extent : array.shape) shape += fmt::format("{}, ", extent);
  if (array.shape.size() > 1) shape.resize(shape.size() - 2);
  std::string header = fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': ({}), }}",
                                   dtype_bytes(array.dtype) == 1 ? '|' : '<', descr, shape);
  header.append(63 - (10 + header.size()) % 64, ' ');
  header += '\n';
  std::ofstream out(path, std::ios::binary);
  out.write(kMagic.data(), kMagic.size());
  char version_and_length[4] = {1, 0, static_cast<char>(header.size() & 0xff),
                                static_cast<char>(header.size() >> 8)};
  out.write(version_and_length, 4);
  out.write(header.data(), static_cast<long>(header.size()));
  out.write(reinterpret_cast<const char*>(array.bytes.data()),
            static_cast<long>(array.bytes.size()));
  out.flush();
  if (!out)
    return make_error(DiagKind::kIo, fmt::format("{} cannot be written", path),
                      "is the folder writable and the disk not full?");
  return {};
}

}  // namespace tilewright::tools
