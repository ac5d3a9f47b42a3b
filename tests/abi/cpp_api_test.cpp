// A C++ program that links libtilewright.so: the public headers stand alone, results and exceptions
// cross the library's border.
#include <cstdio>
#include <string>
#include <vector>

#include "tilewright/tilewright.hpp"

namespace tw = tilewright;

constexpr char kDouble[] =
    "@triton.jit\n"
    "def twice(x, BLOCK: tl.constexpr):\n"
    "    p = x + tl.arange(0, BLOCK)\n"
    "    tl.store(p, tl.load(p) * 2)\n";

int main() {
  tw::Context ctx = tw::Context::open({.device = "interp", .cache = "off"}).value();
  tw::Kernel twice = ctx.compile(kDouble, "twice").value();
  std::vector<int> data = {1, 2, 3, 4};
  twice({.constants = {{"BLOCK", 4}}}, data.data()).value();
  bool good = data == std::vector<int>{2, 4, 6, 8};
  std::string message;
  try {
    ctx.compile(kDouble, "thrice").value();
  } catch (const tw::Error& error) {
    message = error.what();
    good = good && error.info().kind == tw::DiagKind::kNoKernel;
  }
  good = good && message.find("there is no kernel `thrice`") != message.npos;
  good = good && tw::diag_name(tw::DiagKind::kNoKernel) == "no-kernel";
  std::printf("%s\n", good ? "good" : "wrong");
  return good ? 0 : 1;
}
