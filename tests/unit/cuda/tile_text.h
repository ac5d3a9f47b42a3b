// IR text of kernels that load tiles, compute and store them, written piece by piece.
#pragma once

#include "tests/unit/cuda/emit_harness.h"

namespace tilewright::cuda {

inline std::string name(Dtype dtype) {
  return std::string(dtype_name(dtype));
}
inline std::string tile(const std::vector<int>& shape, const std::string& element) {
  std::string text = "tile<";
  for (int extent : shape) text += std::to_string(extent) + "x";
  return text + element + ">";
}
inline int count(const std::vector<int>& shape) {
  int n = 1;
  for (int extent : shape) n *= extent;
  return n;
}

// IR text in pieces. Tiles are read and written row-major.
class Text {
 public:
  explicit Text(int warps) : warps_(warps) {}

  // Adds a parameter of a kind with its argument, returns "%p<i>".
  // Every other pointer is known to be aligned, so that loads and stores have vectors.
  std::string pointer(Dtype dtype, Argument argument) {
    std::string known = arguments_.size() % 2 == 0 ? " {div=16}" : "";
    return param("ptr<" + name(dtype) + ">" + known, std::move(argument));
  }
  std::string scalar_param(Dtype dtype, double value) {
    return param(name(dtype), scalar(dtype, value));
  }
  void line(const std::string& text) { body_ += "  " + text + "\n"; }
  std::string value(const std::string& type, const std::string& op) {
    std::string id = "%t" + std::to_string(next_++);
    line(id + ": " + type + " = " + op);
    return id;
  }
  // Names of a region's own values, new ones after next_local().
  std::string local(const std::string& hint) const {
    return "%" + hint + "_" + std::to_string(locals_);
  }
  void next_local() { ++locals_; }
  std::string constant(Dtype dtype, const std::string& number) {
    return value(name(dtype), "const {value=" + number + "}");
  }
  std::string constant_tile(const std::vector<int>& shape, Dtype dtype, const std::string& number) {
    return value(tile(shape, name(dtype)), "const {value=" + number + "}");
  }
  // Row-major index of every element, i32.
  std::string index(const std::vector<int>& shape) {
    std::string sum;
    int stride = count(shape);
    for (size_t d = 0; d < shape.size(); ++d) {
      stride /= shape[d];
      std::vector<int> line = {shape[d]};
      std::string i =
          value(tile(line, "i32"), "arange {end=" + std::to_string(shape[d]) + ", start=0}");
      i = value(tile(line, "i32"),
                "mul " + i + ", " + constant_tile(line, Dtype::kI32, std::to_string(stride)));
      for (size_t other = 0; other < shape.size(); ++other) {
        if (other == d) continue;
        line.insert(line.begin() + static_cast<ptrdiff_t>(other), 1);
        i = value(tile(line, "i32"), "expand_dims " + i + " {axis=" + std::to_string(other) + "}");
      }
      i = value(tile(shape, "i32"), "broadcast " + i);
      sum = sum.empty() ? i : value(tile(shape, "i32"), "add " + sum + ", " + i);
    }
    return sum;
  }
  std::string addresses(const std::string& pointer, Dtype dtype, const std::vector<int>& shape) {
    std::string type = tile(shape, "ptr<" + name(dtype) + ">");
    return value(type, "ptr_add " + value(type, "splat " + pointer) + ", " + index(shape));
  }
  std::string load(Argument argument, const std::vector<int>& shape) {
    Dtype dtype = argument.dtype;
    std::string p = pointer(dtype, std::move(argument));
    return value(tile(shape, name(dtype)), "load " + addresses(p, dtype, shape));
  }
  void store(const std::string& v, Dtype dtype, const std::vector<int>& shape) {
    std::string p = pointer(dtype, zeros(dtype, static_cast<size_t>(count(shape))));
    line("store " + addresses(p, dtype, shape) + ", " + v);
  }
  void store_scalar(const std::string& v, Dtype dtype) {
    line("store " + pointer(dtype, zeros(dtype, 1)) + ", " + v);
  }
  Comparison finish(const std::string& target = "sm_90", Tolerance tolerance = {}) const {
    Comparison c;
    c.ir = "kernel @k(" + params_ + ") attributes {num_warps=" + std::to_string(warps_) + "} {\n" +
           body_ + "  return\n}\n";
    c.arguments = arguments_;
    c.target = target;
    c.tolerance = tolerance;
    return c;
  }

 private:
  std::string param(const std::string& type, Argument argument) {
    std::string id = "%arg" + std::to_string(arguments_.size());
    params_ += (params_.empty() ? "" : ", ") + id + ": " + type;
    arguments_.push_back(std::move(argument));
    return id;
  }
  int warps_, next_ = 0, locals_ = 0;
  std::string params_, body_;
  std::vector<Argument> arguments_;
};

inline Argument integers(Dtype dtype, const std::vector<int>& shape, unsigned seed, int low = -8,
                         int high = 8) {
  return small_integers(dtype, static_cast<size_t>(count(shape)), is_unsigned(dtype) ? 0 : low,
                        high, seed);
}

}  // namespace tilewright::cuda
