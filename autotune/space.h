// Tuning spaces: which configs a kernel may run with. A config binds constexpr parameters and
// launch options; a space is a list of configs in a fixed order, from the kernel's @triton.autotune
// decorator or from a short declaration.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/frontend.h"

namespace tilewright::autotune {

struct Config {
  std::map<std::string, frontend::Constant> constants;
  int num_warps = 4;
  int num_stages = 3;
  int maxnreg = 0;  // 0: no bound on registers

  std::string key() const;  // autotune/db/key.h's config_key
  friend bool operator==(const Config&, const Config&) = default;
};

// The configs of the kernel's decorator, duplicates removed; empty without one.
std::vector<Config> decorator_space(const frontend::KernelInfo& kernel);

// "BLOCK_M=64,128 BLOCK_N=32,64 warps=4,8 stages=2": every combination, the last name fastest.
// `warps`, `stages` and `maxnreg` are launch options, other names are constexpr parameters.
Result<std::vector<Config>> parse_space(std::string_view text);

// The config whose key() is `key`, or null.
const Config* find_config(const std::vector<Config>& space, std::string_view key);

}  // namespace tilewright::autotune
