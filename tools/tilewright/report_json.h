// The report of a kernel as one JSON document, for programs; its text form is report::to_text.
#pragma once

#include <string>

#include "codegen/report/report.h"

namespace tilewright::tools {

std::string to_json(const report::Report& report);

}  // namespace tilewright::tools
