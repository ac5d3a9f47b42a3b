// Values of the public interfaces as the front end's constants.
#pragma once

#include <string>

#include "frontend/frontend.h"
#include "tilewright/argument.hpp"

namespace tilewright {

// Pointers have no constant and give None.
frontend::Constant to_constant(const Value& value);

inline frontend::Constant function_constant(std::string name) {
  frontend::Constant constant;
  constant.kind = frontend::Constant::Kind::kFunction;
  constant.text = std::move(name);
  return constant;
}

}  // namespace tilewright
