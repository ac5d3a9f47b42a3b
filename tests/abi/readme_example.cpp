// The README's C++ example, as it stands there: adds two vectors on the first GPU, else on the CPU.
#include <cstdio>
#include <tilewright/tilewright.hpp>
#include <vector>

namespace tw = tilewright;

int main(int, char** argv) {
  tw::Context ctx = tw::Context::open("auto").value();
  tw::Kernel add = ctx.compile(argv[1], "vector_add").value();  // a .py file, or its text
  int n = 1000;
  std::vector<float> x(n, 1.0f), y(n, 2.0f), z(n);
  size_t bytes = n * sizeof(float);
  tw::Buffer dx = ctx.allocate(bytes).value(), dy = ctx.allocate(bytes).value(),
             dz = ctx.allocate(bytes).value();
  dx.upload(x.data(), bytes).value();
  dy.upload(y.data(), bytes).value();
  add({.grid = {tw::cdiv(n, 256)}, .num_warps = 4, .constants = {{"BLOCK", 256}}}, dx.as<float>(),
      dy.as<float>(), dz.as<float>(), n)
      .value();
  dz.download(z.data(), bytes).value();
  std::printf("z[999] = %g\n", z[999]);
  return z[999] == 3.0f ? 0 : 1;
}
