// Mode `cuda`: the CUDA C++ text of a kernel given as IR, for target=sm_90 (the default). lines=1
// ties lines to the IR file as a kernel's own source is.
#include "codegen/cuda/cuda.h"
#include "codegen/passes/passes.h"
#include "tests/golden/golden.h"

namespace tilewright::golden {

std::string run_cuda(const Case& c) {
  auto option = [&](std::string_view key, std::string otherwise) {
    auto it = c.options.find(key);
    return it == c.options.end() ? otherwise : it->second;
  };
  const Target* target = find_target(option("target", "sm_90"));
  if (!target) return "no such target\n";
  auto module = ir::parse(c.path, c.input);
  if (!module.ok()) return module.error().text() + "\n";
  if (Status status = passes::run_pipeline(*module); !status.ok())
    return status.error().text() + "\n";
  SourceMap sources;
  sources.add(c.path, c.input);
  cuda::Options options;
  options.line_info = option("lines", "0") == "1";
  options.sources = &sources;
  Result<cuda::Source> source = cuda::emit(*module, *target, options);
  return source.ok() ? source->text : source.error().text() + "\n";
}

}  // namespace tilewright::golden
