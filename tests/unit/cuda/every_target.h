// Tests that run for every target this NVRTC compiles for:
//
//   class SassOn : public EveryTargetTest {};
//   INSTANTIATE_TEST_SUITE_P(Targets, SassOn, every_target(), target_name);
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "codegen/cuda/cuda.h"
#include "codegen/cuda/nvrtc_loader.h"

namespace tilewright::cuda {

class EveryTargetTest : public testing::TestWithParam<const Target*> {
 protected:
  void SetUp() override {
    if (!nvrtc_info().ok()) GTEST_SKIP() << nvrtc_info().error().message;
    const std::vector<int>& known = nvrtc()->architectures;
    if (std::find(known.begin(), known.end(), GetParam()->sm) == known.end())
      GTEST_SKIP() << "this NVRTC does not compile for " << GetParam()->name;
  }
};

inline auto every_target() {
  std::vector<const Target*> targets;
  for (const Target& target : all_targets()) targets.push_back(&target);
  return testing::ValuesIn(targets);
}

inline std::string target_name(const testing::TestParamInfo<const Target*>& info) {
  return std::string(info.param->name);
}

}  // namespace tilewright::cuda
