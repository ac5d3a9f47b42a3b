// Modes of the analyses and layouts that the CUDA backend works with. Input is IR text.
//
//   axis                   what is known of each integer and pointer value, one line a value
//   layouts target=sm_XX   the layout of each tile, dots, vectors and conversions
#include "codegen/analysis/axis_info.h"
#include "codegen/cuda/layouts.h"
#include "codegen/ir/listing.h"
#include "tests/golden/golden.h"

namespace tilewright::golden {

std::string run_axis(const Case& c) {
  auto module = ir::parse(c.path, c.input);
  if (!module.ok()) return module.error().text() + "\n";
  if (Status status = ir::verify(*module); !status.ok()) return status.error().text() + "\n";
  std::vector<analysis::AxisInfo> infos = analysis::analyze_axes(*module);
  ir::Listing listing = ir::list(*module);
  std::string out;
  for (uint32_t i = 0; i < module->value_count(); ++i) {
    const ir::Type& type = module->type(ir::ValueId{i});
    if (infos[i].rank() == 0 || (!type.is_pointer && is_float(type.dtype))) continue;
    out += listing.name(ir::ValueId{i}) + ": " + ir::to_string(type) + " " +
           analysis::to_string(infos[i]) + "\n";
  }
  return out;
}

std::string run_layouts(const Case& c) {
  auto module = ir::parse(c.path, c.input);
  if (!module.ok()) return module.error().text() + "\n";
  if (Status status = ir::verify(*module); !status.ok()) return status.error().text() + "\n";
  const Target* target = find_target(c.options.at("target"));
  if (target == nullptr) return "no such target\n";
  auto assignment = cuda::assign_layouts(*module, *target);
  if (!assignment.ok()) return assignment.error().text() + "\n";
  if (Status status = ir::verify(*module); !status.ok()) return status.error().text() + "\n";
  return cuda::to_string(*module, *assignment);
}

}  // namespace tilewright::golden
