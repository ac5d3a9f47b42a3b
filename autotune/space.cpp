#include "autotune/space.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "autotune/db/key.h"

namespace tilewright::autotune {
namespace {

constexpr size_t kMaxConfigs = 100000;

struct Axis {
  std::string name;
  std::vector<frontend::Constant> values;
};

ErrorInfo bad_space(std::string message) {
  return make_error(DiagKind::kBadArgument, std::move(message),
                    "write BLOCK_M=64,128 BLOCK_N=32,64 warps=4,8 stages=2,3");
}

Result<Axis> parse_axis(const std::string& word) {
  size_t equals = word.find('=');
  if (equals == word.npos || equals == 0)
    return bad_space(fmt::format("'{}' is not NAME=VALUE,VALUE", word));
  Axis axis{word.substr(0, equals), {}};
  std::istringstream values(word.substr(equals + 1));
  for (std::string value; std::getline(values, value, ',');) {
    TW_ASSIGN(auto constant, frontend::parse_constant(value));
    axis.values.push_back(std::move(constant));
  }
  if (axis.values.empty()) return bad_space(fmt::format("'{}' has no values", axis.name));
  return axis;
}

Status assign(Config& config, const std::string& name, const frontend::Constant& value) {
  int* option = name == "warps"     ? &config.num_warps
                : name == "stages"  ? &config.num_stages
                : name == "maxnreg" ? &config.maxnreg
                                    : nullptr;
  const int most = name == "maxnreg" ? 255 : 64;
  if (!option) {
    config.constants[name] = value;
    return {};
  }
  if (value.kind != frontend::Constant::Kind::kInt || value.integer < 1 || value.integer > most)
    return bad_space(
        fmt::format("{} must be an integer from 1 to {}, not {}", name, most, to_string(value)));
  *option = static_cast<int>(value.integer);
  return {};
}

}  // namespace

std::string Config::key() const {
  std::map<std::string, std::string> text;
  for (auto& [name, value] : constants) text[name] = to_string(value);
  return config_key(text, num_warps, num_stages, maxnreg);
}

std::vector<Config> decorator_space(const frontend::KernelInfo& kernel) {
  std::vector<Config> space;
  for (const frontend::DecoratorConfig& row : kernel.configs) {
    Config config{row.constants, row.num_warps, row.num_stages, row.maxnreg.value_or(0)};
    if (std::find(space.begin(), space.end(), config) == space.end())
      space.push_back(std::move(config));
  }
  return space;
}

Result<std::vector<Config>> parse_space(std::string_view text) {
  std::vector<Axis> axes;
  size_t count = 1;
  std::istringstream words{std::string(text)};
  for (std::string word; words >> word;) {
    TW_ASSIGN(auto axis, parse_axis(word));
    count *= axis.values.size();
    if (count > kMaxConfigs)
      return bad_space(fmt::format("the space has more than {} configs", kMaxConfigs));
    axes.push_back(std::move(axis));
  }
  if (axes.empty()) return bad_space("the space is empty");
  std::vector<Config> space;
  for (size_t i = 0; i < count; ++i) {
    Config config;
    size_t rest = i;
    for (size_t a = axes.size(); a-- > 0; rest /= axes[a].values.size())
      TW_TRY(assign(config, axes[a].name, axes[a].values[rest % axes[a].values.size()]));
    space.push_back(std::move(config));
  }
  return space;
}

const Config* find_config(const std::vector<Config>& space, std::string_view key) {
  for (const Config& config : space)
    if (config.key() == key) return &config;
  return nullptr;
}

}  // namespace tilewright::autotune
