// Which functions count as kernels.
#include <gtest/gtest.h>

#include "dsl/parser.h"

namespace tilewright::dsl {
namespace {

std::string kernels_of(const std::string& text) {
  SourceMap sources;
  DiagSink sink;
  auto ast = parse_file(sources, sources.add("test.py", text), sink);
  EXPECT_FALSE(sink.has_errors()) << render(sink, sources);
  std::string names;
  for (const Stmt* stmt : ast->body) {
    if (stmt->kind != StmtKind::kFunction) continue;
    EXPECT_TRUE(is_jit_function(*stmt));
    names += stmt->name + " ";
  }
  return names;
}

TEST(Module, DecoratorsThatMakeKernels) {
  EXPECT_EQ(kernels_of("@triton.jit\ndef a(): pass\n"
                       "@jit\ndef b(): pass\n"
                       "@registry.register()\n@triton.jit(debug=True)\n# note\n\n@other\n"
                       "def c(): pass\n"),
            "a b c ");
}

TEST(Module, OtherCompilersKernelsAreHostCode) {
  EXPECT_EQ(kernels_of("@jax.jit\ndef a():\n    try: pass\n    finally: pass\n"
                       "@numba.jit(nopython=True)\ndef b(): yield\n"
                       "@torch.jit.script\ndef c(): pass\n"
                       "@functools.partial(jax.jit)\ndef d(): pass\n"
                       "from numba import jit\n@jit\ndef e(): pass\n"
                       "import jax as j\n@j.jit\ndef f(): pass\n"
                       "import cutlass.cute as c\n@c.jit\ndef g(): pass\n"),
            "");
}

TEST(Module, NestedKernelsAreFound) {
  EXPECT_EQ(kernels_of("def host():\n  if x:\n    for y in z:\n"
                       "      @triton.jit\n      def a(): pass\n"
                       "      @triton.jit\n      def b():\n        return\n"
                       "    with t: u\n  @jit\n  def c(): return\n"
                       "try:\n  @jit\n  def d(): pass\nexcept E:\n  @jit\n  def e(): pass\n"),
            "a b c d e ");
}

}  // namespace
}  // namespace tilewright::dsl
