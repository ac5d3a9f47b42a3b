// Text to cubin with NVRTC. Options are fixed here, with reasons; nothing from the environment may
// change the code behind the cache's back.
#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdlib>
#include <map>
#include <set>
#include <vector>

#include "codegen/cuda/cuda.h"
#include "codegen/cuda/nvrtc_loader.h"
#include "dsl/base/check.h"

namespace tilewright::cuda {
namespace {

constexpr int kExcerptContext = 2;   // lines before and after an error
constexpr int kExcerptErrors = 3;    // errors shown with an excerpt
constexpr size_t kLogBytes = 16384;  // of the log, in an error

std::vector<std::string_view> split_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
  }
  return lines;
}

using Place = std::pair<std::string, int>;  // file and line as NVRTC reports them

std::optional<int> leading_int(std::string_view text) {
  int value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return std::nullopt;
  return value;
}

// What each line of the text is called in messages, by the #line directives in it.
std::vector<Place> place_lines(const std::vector<std::string_view>& lines, std::string file) {
  std::vector<Place> places;
  int number = 1;
  for (std::string_view line : lines) {
    places.emplace_back(file, number++);
    if (!line.starts_with("#line ")) continue;
    line.remove_prefix(6);
    if (std::optional<int> value = leading_int(line)) number = *value;
    size_t open = line.find('"'), close = line.rfind('"');
    if (open != line.npos && close > open) file = line.substr(open + 1, close - open - 1);
  }
  return places;
}

// Places of the errors in a log: NVRTC writes "file(12): error: …", ptxas "ptxas …, line 12;
// error".
std::vector<Place> error_places(std::string_view log) {
  std::vector<Place> places;
  for (std::string_view line : split_lines(log)) {
    size_t error = line.find("): error");
    size_t open = error == line.npos ? line.npos : line.rfind('(', error);
    if (open == line.npos) continue;
    std::optional<int> number = leading_int(line.substr(open + 1));
    Place place{std::string(line.substr(0, open)), number.value_or(0)};
    if (number && std::find(places.begin(), places.end(), place) == places.end())
      places.push_back(place);
  }
  return places;
}

std::string excerpt(const Source& source, std::string_view log) {
  std::vector<std::string_view> lines = split_lines(source.text);
  std::vector<Place> places = place_lines(lines, source.entry + ".cu");
  std::string out;
  int shown = 0;
  for (const Place& place : error_places(log)) {
    auto found = std::find(places.begin(), places.end(), place);
    if (found == places.end()) continue;
    if (++shown > kExcerptErrors) break;
    int at = static_cast<int>(found - places.begin());
    int last = std::min<int>(at + kExcerptContext, static_cast<int>(lines.size()) - 1);
    out += fmt::format("in the emitted text, {}:{}\n", place.first, place.second);
    for (int i = std::max(at - kExcerptContext, 0); i <= last; ++i)
      out += fmt::format("{} {:5} | {}\n", i == at ? '>' : ' ', i + 1, lines[i]);
  }
  return out;
}

// NVRTC knows names of families since 12.9; before, only what needs them is refused.
std::string_view architecture(const Target& target, const NvrtcInfo& nvrtc) {
  const bool knows_families = nvrtc.major > 12 || (nvrtc.major == 12 && nvrtc.minor >= 9);
  return target.nvrtc.ends_with('f') && !knows_families ? target.name : target.nvrtc;
}

std::vector<std::string> required_options(const Target& target, const Options& options,
                                          const NvrtcInfo& nvrtc) {
  std::vector<std::string> out = {
      fmt::format("--gpu-architecture={}", architecture(target, nvrtc)),
      "-default-device",
      // Products and sums are contracted in the IR, so that every backend rounds alike.
      "--fmad=false",
      // Registers, spills and notices on serialised wgmma go to the log.
      "--ptxas-options=-v",
  };
  if (options.line_info) out.push_back("-lineinfo");
  return out;
}

// Savings that older versions do not know; they are dropped for good once refused.
std::vector<std::string> optional_options() {
  return {
      "--minimal",   // no texture and device-runtime declarations: 13 % off a small kernel
      "--no-cache",  // else the driver's own cache doubles ours and falsifies compile times
  };
}
std::atomic<bool> refuses_optional_options{false};

class Program {
 public:
  explicit Program(const NvrtcApi& api) : api_(api) {}
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program() {
    if (program_) api_.destroy(&program_);
  }

  int create(const std::string& text, const std::string& name) {
    return api_.create(&program_, text.c_str(), name.c_str(), 0, nullptr, nullptr);
  }
  int compile(const std::vector<std::string>& options) {
    std::vector<const char*> pointers;
    for (const std::string& option : options) pointers.push_back(option.c_str());
    return api_.compile(program_, static_cast<int>(pointers.size()), pointers.data());
  }
  std::string log() const { return get(api_.log_size, api_.log); }
  std::string ptx() const { return get(api_.ptx_size, api_.ptx); }
  std::string cubin() const {
    size_t size = 0;
    std::string out;
    if (api_.cubin_size(program_, &size) != NvrtcApi::kSuccess || size == 0) return out;
    out.resize(size);
    if (api_.cubin(program_, out.data()) != NvrtcApi::kSuccess) out.clear();
    return out;
  }

 private:
  // Text results count a trailing NUL.
  std::string get(int (*size_of)(NvrtcApi::Program, size_t*),
                  int (*read)(NvrtcApi::Program, char*)) const {
    size_t size = 0;
    std::string out;
    if (size_of(program_, &size) != NvrtcApi::kSuccess || size == 0) return out;
    out.resize(size);
    if (read(program_, out.data()) != NvrtcApi::kSuccess) return {};
    out.resize(std::min(out.find('\0'), out.size()));
    return out;
  }

  const NvrtcApi& api_;
  NvrtcApi::Program program_ = nullptr;
};

std::string full_text(const Source& source) {
  return fmt::format("#line 1 \"device.cuh\"\n{}\n#line 1 \"{}.cu\"\n{}", device_prelude(),
                     source.entry, source.text);
}

ErrorInfo compile_error(const NvrtcApi& api, int result, const std::string& log,
                        const Source& source, const Target& target) {
  ErrorInfo error = make_error(DiagKind::kCudaCompile,
                               fmt::format("NVRTC refused the text of {} for {}: {}", source.entry,
                                           target.name, api.error_string(result)));
  error.details = fmt::format("error: {} [{}]\n{}{}", error.message, diag_name(error.kind),
                              excerpt(source, log), log.substr(0, kLogBytes));
  return error;
}

// One run of NVRTC, with the optional options as long as it takes them.
Result<Binary> compile_text(const NvrtcApi& api, const std::string& text,
                            std::vector<std::string> required, const Source& source,
                            const Target& target) {
  for (bool with_optional : {true, false}) {
    if (with_optional && refuses_optional_options.load()) continue;
    std::vector<std::string> flags = required;
    if (with_optional)
      for (std::string& flag : optional_options()) flags.push_back(std::move(flag));
    Program program(api);
    int result = program.create(text, source.entry + ".cu");
    if (result == NvrtcApi::kSuccess) result = program.compile(flags);
    if (result == NvrtcApi::kInvalidOption && with_optional) {
      refuses_optional_options = true;
      continue;
    }
    Binary binary{program.cubin(), program.ptx(), program.log()};
    if (result != NvrtcApi::kSuccess || binary.cubin.empty())
      return compile_error(api, result, binary.log, source, target);
    return binary;
  }
  TW_UNREACHABLE("both sets of options were tried");
}

// What ptxas says of a kernel: "… 8 bytes spill stores, 12 bytes spill loads".
bool spills(std::string_view log) {
  for (std::string_view line : split_lines(log))
    if (size_t at = line.find(" bytes spill stores"); at != line.npos)
      if (size_t start = line.rfind(' ', at - 1); line.substr(start + 1, at - start - 1) != "0")
        return true;
  return false;
}

// The next bound on registers that is an eighth larger or more. They are handed out by warps, to
// each quarter of an SM.
int fewer_blocks(int blocks, int threads) {
  int warps = std::max(1, threads / 32), a_quarter = (blocks * warps + 3) / 4;
  int fewer = std::min(a_quarter - 1, a_quarter * 7 / 8);
  return std::clamp(fewer * 4 / warps, 1, std::max(1, blocks - 1));
}

}  // namespace

Result<Binary> compile(const Source& source, const Target& target, const Options& options) {
  if (const char* flags = std::getenv("NVRTC_APPEND_FLAGS"); flags && *flags)
    return make_error(DiagKind::kCudaCompile,
                      fmt::format("NVRTC_APPEND_FLAGS is set to \"{}\", which would change "
                                  "compiled kernels unseen by the cache",
                                  flags),
                      "unset NVRTC_APPEND_FLAGS");
  const Result<NvrtcApi>& loaded = nvrtc();
  if (!loaded.ok()) return loaded.error();
  const NvrtcApi& api = *loaded;
  const auto& known = api.architectures;
  if (std::find(known.begin(), known.end(), target.sm) == known.end())
    return make_error(DiagKind::kCudaCompile,
                      fmt::format("NVRTC {}.{} ({}) does not compile for {}", api.info.major,
                                  api.info.minor, api.info.library, target.name),
                      "install a newer CUDA, or name its library in TILEWRIGHT_NVRTC");
  const std::string text = full_text(source);
  // Each step compiles anew: two, then as many registers as ptxas likes.
  constexpr int kSteps = 2;
  int blocks = source.min_blocks;
  for (int step = 0;; ++step) {
    std::vector<std::string> flags = required_options(target, options, api.info);
    if (blocks != source.min_blocks) flags.push_back(fmt::format("-DTW_MIN_BLOCKS={}", blocks));
    TW_ASSIGN(Binary binary, compile_text(api, text, std::move(flags), source, target));
    if (blocks == 1 || !spills(binary.log)) return binary;
    blocks = step < kSteps ? fewer_blocks(blocks, source.threads) : 1;
  }
}

}  // namespace tilewright::cuda
