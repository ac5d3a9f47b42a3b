// What a kernel needs, read from its cubin without a GPU or NVIDIA's tools.
//
// The format is undocumented; the meaning of the attributes was found by comparing with
// `ptxas -v` (cubin_test.cpp does so for every target).
#include <fmt/format.h>

#include <algorithm>

#include "codegen/cuda/cubin_file.h"
#include "codegen/cuda/sass.h"

namespace tilewright::cuda {
namespace {

constexpr uint64_t kMaxShared = 1 << 20;  // more than any SM has

// The attributes of one kernel, from the common section and from its own.
void read_attributes(const CubinFile& cubin, std::string_view kernel, Resources& out) {
  int frame = 0, min_stack = 0;
  if (const Section* info = cubin.find(".nv.info", ""))
    for_each_attribute(info->bytes, [&](uint8_t attribute, uint16_t, std::string_view payload) {
      if (cubin.symbol_name(word_at(payload, 0)) != kernel) return;
      int value = static_cast<int>(word_at(payload, 1));
      if (attribute == kRegisterCount) out.registers = value;
      if (attribute == kFrameSize) frame = value;
      if (attribute == kMinStackSize) min_stack = value;
    });
  if (const Section* info = cubin.find(".nv.info.", kernel))
    for_each_attribute(info->bytes,
                       [&](uint8_t attribute, uint16_t value, std::string_view payload) {
                         if (attribute == kBarrierCount) out.barriers = value;
                         if (attribute == kSpills)
                           out.spill_instructions += static_cast<int>(payload.size() / 8);
                       });
  out.stack_bytes = std::max(frame, min_stack);
}

// Static shared memory of a kernel. From sm_90 on its section starts with the system's 1 KB, which
// does not count against the block's limit.
int static_shared(const CubinFile& cubin, std::string_view kernel) {
  const Section* section = cubin.find(".nv.shared.", kernel);
  if (!section) return 0;
  uint64_t bytes = std::min<uint64_t>(section->size, kMaxShared);
  uint64_t reserved = cubin.sm() >= 90 ? 1024 : 0;
  return static_cast<int>(bytes - std::min(bytes, reserved));
}

}  // namespace

Result<Resources> read_resources(std::string_view data, const Source& source) {
  std::optional<CubinFile> cubin = CubinFile::open(data);
  if (!cubin) return bad_cubin(source, "it is no CUDA binary, or is cut off");
  const Symbol* kernel = cubin->kernel(source.entry);
  if (!kernel) return bad_cubin(source, "it does not hold this kernel");
  Resources out;
  out.code_bytes = static_cast<int>(std::min<uint64_t>(kernel->size, data.size()));
  read_attributes(*cubin, source.entry, out);
  if (out.registers <= 0 || out.registers > 255)
    return bad_cubin(source, fmt::format("it names {} registers", out.registers));
  if (cubin->abi() < kAbiOfCuda13) {
    // Older cubins do not tell spills from local arrays, which emitted kernels do not have.
    TW_ASSIGN(auto mix, instruction_mix(data, source));
    out.spill_instructions = mix["LDL"] + mix["STL"];
  }
  out.shared_bytes = source.shared_bytes + static_shared(*cubin, source.entry);
  return out;
}

Result<std::map<std::string, int>> instruction_mix(std::string_view data, const Source& source) {
  TW_ASSIGN(auto code, sass::decode(data, source));
  std::map<std::string, int> mix;
  for (const sass::Instruction& instruction : code) ++mix[instruction.name()];
  return mix;
}

}  // namespace tilewright::cuda
