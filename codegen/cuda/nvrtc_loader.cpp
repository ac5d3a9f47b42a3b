#include "codegen/cuda/nvrtc_loader.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace fs = std::filesystem;

namespace tilewright::cuda {
namespace {

constexpr int kOldestMajor = 12;
constexpr const char* kSonames[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"};

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

bool is_folder(const fs::path& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

// Names in a folder, sorted; empty if it cannot be read.
std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
    names.push_back(it->path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

bool is_alternative(std::string_view name) {
  return name.find(".alt") != name.npos;
}

// The numbers in "libnvrtc-builtins.so.13.0" after `stem`, or empty if it is not of that form.
std::vector<int> version_suffix(std::string_view name, std::string_view stem) {
  if (!name.starts_with(stem)) return {};
  std::vector<int> numbers;
  for (size_t i = stem.size(); i < name.size();) {
    if (name[i++] != '.') return {};
    size_t begin = i;
    int number = 0;
    for (; i < name.size() && isdigit(static_cast<unsigned char>(name[i])) && i - begin < 6; ++i)
      number = number * 10 + (name[i] - '0');
    if (i == begin) return {};
    numbers.push_back(number);
  }
  return numbers;
}

// Opens the builtins library that lies beside NVRTC, the newest if there are several. The handle is
// kept for the life of the process, as NVRTC is.
void open_builtins(const fs::path& folder) {
  std::string best;
  std::vector<int> best_version;
  for (const std::string& name : names_in(folder)) {
    if (is_alternative(name)) continue;
    std::vector<int> version = version_suffix(name, "libnvrtc-builtins.so");
    if (!version.empty() && version >= best_version) best = name, best_version = version;
  }
  if (!best.empty()) dlopen((folder / best).c_str(), RTLD_NOW | RTLD_LOCAL);
}

// Fills the table from an open library. The reason is set if something is missing.
bool resolve(void* handle, NvrtcApi& api, std::string& reason) {
  auto bind = [&](auto& function, const char* name) {
    void* symbol = dlsym(handle, name);
    if (symbol == nullptr && reason.empty()) reason = fmt::format("has no {}", name);
    function = reinterpret_cast<std::decay_t<decltype(function)>>(symbol);
  };
  bind(api.version, "nvrtcVersion");
  bind(api.error_string, "nvrtcGetErrorString");
  bind(api.create, "nvrtcCreateProgram");
  bind(api.destroy, "nvrtcDestroyProgram");
  bind(api.compile, "nvrtcCompileProgram");
  bind(api.log_size, "nvrtcGetProgramLogSize");
  bind(api.log, "nvrtcGetProgramLog");
  bind(api.ptx_size, "nvrtcGetPTXSize");
  bind(api.ptx, "nvrtcGetPTX");
  bind(api.cubin_size, "nvrtcGetCUBINSize");
  bind(api.cubin, "nvrtcGetCUBIN");
  int (*count_architectures)(int*) = nullptr;
  int (*get_architectures)(int*) = nullptr;
  bind(count_architectures, "nvrtcGetNumSupportedArchs");
  bind(get_architectures, "nvrtcGetSupportedArchs");
  if (!reason.empty()) return false;
  if (api.version(&api.info.major, &api.info.minor) != NvrtcApi::kSuccess) {
    reason = "nvrtcVersion failed";
    return false;
  }
  if (api.info.major < kOldestMajor) {
    reason = fmt::format("is version {}.{}, {}.0 or later is needed", api.info.major,
                         api.info.minor, kOldestMajor);
    return false;
  }
  int count = 0;
  if (count_architectures(&count) == NvrtcApi::kSuccess && count > 0) {
    api.architectures.resize(static_cast<size_t>(count));
    get_architectures(api.architectures.data());
  }
  return true;
}

std::string path_of(void* handle, std::string_view otherwise) {
  link_map* map = nullptr;
  if (dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map && map->l_name && *map->l_name)
    return map->l_name;
  return std::string(otherwise);
}

class Search {
 public:
  // `name` is a soname for the loader's own search, or an absolute path.
  bool open(const std::string& name) {
    fs::path path(name);
    if (path.has_parent_path()) open_builtins(path.parent_path());
    void* handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
      const char* why = dlerror();
      return failed(name, why ? why : "cannot be opened");
    }
    NvrtcApi api;
    api.info.library = path_of(handle, name);
    std::string reason;
    if (is_alternative(fs::path(api.info.library).filename().string()))
      reason = "is the .alt library, whose long has 32 bits";
    if (!reason.empty() || !resolve(handle, api, reason)) {
      dlclose(handle);
      return failed(name, reason);
    }
    if (!path.has_parent_path()) open_builtins(fs::path(api.info.library).parent_path());
    found_ = std::move(api);
    return true;
  }

  // The newest libnvrtc.so.N in a folder, or libnvrtc.so.
  bool open_folder(const fs::path& folder) {
    std::vector<std::pair<std::vector<int>, std::string>> candidates;
    for (const std::string& name : names_in(folder)) {
      if (is_alternative(name)) continue;
      std::vector<int> version = version_suffix(name, "libnvrtc.so");
      if (!version.empty() || name == "libnvrtc.so") candidates.emplace_back(version, name);
    }
    std::sort(candidates.rbegin(), candidates.rend());
    if (candidates.empty()) {
      std::error_code error;
      return failed(folder.string(), fs::is_directory(folder, error)
                                         ? "has no libnvrtc.so.13 or .12"
                                         : "is no folder");
    }
    return std::any_of(candidates.begin(), candidates.end(),
                       [&](auto& c) { return open(fs::absolute(folder / c.second).string()); });
  }

  NvrtcApi take() { return std::move(*found_); }
  const std::string& tried() const { return tried_; }

 private:
  bool failed(std::string_view place, std::string_view reason) {
    // dlerror() starts with the name again.
    if (reason.starts_with(place)) reason.remove_prefix(place.size());
    while (reason.starts_with(':') || reason.starts_with(' ')) reason.remove_prefix(1);
    tried_ += fmt::format("  {}: {}\n", place, reason);
    return false;
  }

  std::optional<NvrtcApi> found_;
  std::string tried_;
};

// lib folders below a CUDA toolkit root.
void add_toolkit(std::vector<std::string>& folders, const std::string& root) {
  if (root.empty()) return;
  for (const char* lib : {"lib64", "lib", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib"})
    folders.push_back(root + "/" + lib);
}

// Where the nvidia-cuda-nvrtc wheels put the library below a site-packages folder.
void add_wheel(std::vector<std::string>& folders, const fs::path& site) {
  for (const char* lib : {"nvidia/cu13/lib", "nvidia/cuda_nvrtc/lib"})
    if (is_folder(site / lib)) folders.push_back((site / lib).string());
}

// site-packages of every Python below a prefix such as /usr/local or a virtual environment.
void add_python_prefix(std::vector<std::string>& folders, const fs::path& prefix) {
  for (const std::string& name : names_in(prefix / "lib"))
    if (name.starts_with("python3"))
      for (const char* site : {"site-packages", "dist-packages"})
        add_wheel(folders, prefix / "lib" / name / site);
}

// The folder of the executable or library that this code is linked into.
std::string own_folder() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&own_folder), &info) == 0 || !info.dli_fname) return {};
  std::error_code error;
  fs::path path = fs::canonical(info.dli_fname, error);
  if (error) path = fs::canonical("/proc/self/exe", error);
  return error ? std::string() : path.parent_path().string();
}

}  // namespace

NvrtcSearch default_nvrtc_search() {
  NvrtcSearch search;
  search.override_path = environment("TILEWRIGHT_NVRTC");
  std::vector<std::string> folders;
  if (std::string own = own_folder(); !own.empty()) {
    folders.push_back(own);
    folders.push_back(fs::path(own).parent_path().string() + "/lib");
  }
  add_toolkit(folders, environment("CUDA_HOME"));
  add_toolkit(folders, environment("CUDA_PATH"));
  add_toolkit(folders, "/usr/local/cuda");
  std::vector<std::string> versions = names_in("/usr/local");
  for (auto name = versions.rbegin(); name != versions.rend(); ++name)
    if (name->starts_with("cuda-")) add_toolkit(folders, "/usr/local/" + *name);
  if (std::string home = environment("VIRTUAL_ENV"); !home.empty())
    add_python_prefix(folders, home);
  if (std::string home = environment("CONDA_PREFIX"); !home.empty()) {
    folders.push_back(home + "/lib");
    add_python_prefix(folders, home);
  }
  if (std::string data = environment("XDG_DATA_HOME"); !data.empty())
    add_wheel(folders, data + "/tilewright/nvrtc");
  if (std::string home = environment("HOME"); !home.empty()) {
    add_wheel(folders, home + "/.local/share/tilewright/nvrtc");  // tools/install_deps.sh
    add_python_prefix(folders, home + "/.local");
  }
  add_python_prefix(folders, "/usr/local");
  add_python_prefix(folders, "/usr");
  for (std::string& folder : folders) {
    bool known =
        std::find(search.folders.begin(), search.folders.end(), folder) != search.folders.end();
    if (!known) search.folders.push_back(std::move(folder));
  }
  return search;
}

Result<NvrtcApi> load_nvrtc(const NvrtcSearch& where) {
  Search search;
  bool found = false;
  if (!where.override_path.empty()) {
    found = is_folder(where.override_path)
                ? search.open_folder(where.override_path)
                : search.open(fs::absolute(where.override_path).string());
  } else {
    if (where.use_loader_path)
      found = std::any_of(std::begin(kSonames), std::end(kSonames),
                          [&](const char* soname) { return search.open(soname); });
    if (!found)
      found = std::any_of(where.folders.begin(), where.folders.end(),
                          [&](const std::string& folder) { return search.open_folder(folder); });
  }
  if (found) return search.take();
  ErrorInfo error =
      make_error(DiagKind::kNoNvrtc, "NVRTC, the CUDA run-time compiler, was not found",
                 "install CUDA 12 or 13, or the nvidia-cuda-nvrtc wheel, and name the library or "
                 "its folder in "
                 "TILEWRIGHT_NVRTC if it lies elsewhere");
  error.details = fmt::format(
      "error: {} [{}]\n{}:\n{}", error.message, diag_name(error.kind),
      where.override_path.empty() ? "searched" : "TILEWRIGHT_NVRTC allows only", search.tried());
  return error;
}

const Result<NvrtcApi>& nvrtc() {
  static const Result<NvrtcApi> api = load_nvrtc(default_nvrtc_search());
  return api;
}

Result<NvrtcInfo> nvrtc_info() {
  const Result<NvrtcApi>& api = nvrtc();
  if (!api.ok()) return api.error();
  return api->info;
}

}  // namespace tilewright::cuda
