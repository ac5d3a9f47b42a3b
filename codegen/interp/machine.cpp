// The run loop: dispatch from the op table, regions, memory access and errors.
#include "codegen/interp/machine.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "dsl/base/check.h"

namespace tilewright::interp {
namespace {

static_assert(std::endian::native == std::endian::little, "memory images are little-endian");

struct Dispatch {
  Handler handler = nullptr;
  ElementHandler element = nullptr;  // set instead for element-wise ops
};

constexpr Dispatch kDispatch[] = {
#define TW_OP(name, ...) {run_##name, nullptr},
#define TW_EW_OP(name, ...) {nullptr, eval_##name},
#include "codegen/ir/ops.def"
#undef TW_OP
#undef TW_EW_OP
};
static_assert(std::size(kDispatch) == ir::kOpCount);

std::string hex(uint64_t value) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string digits;
  do {
    digits.insert(digits.begin(), kDigits[value & 15]);
    value >>= 4;
  } while (value != 0);
  return "0x" + digits;
}

}  // namespace

Machine::Machine(const ir::Module& module, const Launch& launch, const Options& options)
    : module_(module), launch_(launch), options_(options), values_(module.value_count()) {}

void Machine::set(ir::ValueId id, Tile tile) {
  TW_CHECK(static_cast<int64_t>(tile.size()) == type(id).element_count(),
           "a value has the wrong number of elements");
  values_[id.index] = std::move(tile);
}

void Machine::pass(const ir::OpNode& op, size_t first_operand) {
  passed_.clear();
  for (size_t i = first_operand; i < op.operands.size(); ++i)
    passed_.push_back(get(op.operands[i]));
}

Status Machine::run_program(std::array<uint32_t, 3> program) {
  program_ = program;
  shared = {};
  const ir::Region& body = module_.region(module_.body);
  std::vector<Tile> args;
  for (size_t i = 0; i < body.args.size(); ++i) {
    const ir::Type& parameter = type(body.args[i]);
    uint64_t bits = launch_.arguments[i];
    if (!parameter.is_pointer) {
      int width = dtype_bits(parameter.dtype);
      if (parameter.dtype == Dtype::kI1) bits = (bits & 0xff) != 0;
      if (width < 64) bits &= (uint64_t{1} << width) - 1;
    }
    args.push_back({bits});
  }
  return run_region(module_.body, std::move(args));
}

Status Machine::run_region(ir::RegionId id, std::vector<Tile> args) {
  const ir::Region& region = module_.region(id);
  TW_CHECK(args.size() == region.args.size(), "a region got the wrong number of arguments");
  for (size_t i = 0; i < args.size(); ++i) set(region.args[i], std::move(args[i]));
  for (ir::OpId op_id : region.ops) {
    const ir::OpNode& op = module_.op(op_id);
    if (options_.fuel != 0 && ++executed_ > options_.fuel)
      return fail(op, DiagKind::kOutOfFuel,
                  "the run executed more than " + std::to_string(options_.fuel) + " ops");
    const Dispatch& dispatch = kDispatch[static_cast<size_t>(op.op)];
    TW_TRY(dispatch.handler ? dispatch.handler(*this, op)
                            : run_elementwise(*this, op, dispatch.element));
  }
  return {};
}

Status Machine::check_access(const ir::OpNode& op, uint64_t address, size_t bytes,
                             bool is_write) const {
  if (!options_.may_access || options_.may_access(address, bytes, is_write)) return {};
  return fail(op, DiagKind::kOutOfBounds,
              std::string(is_write ? "write" : "read") + " of " + std::to_string(bytes) +
                  " bytes at " + hex(address) + " is outside the memory of the arguments");
}

Status Machine::read(const ir::OpNode& op, uint64_t address, Dtype dtype, uint64_t& bits) {
  auto bytes = static_cast<size_t>(dtype_bytes(dtype));
  TW_TRY(check_access(op, address, bytes, false));
  bits = 0;
  std::memcpy(&bits, reinterpret_cast<const void*>(address), bytes);
  if (dtype == Dtype::kI1) bits = bits != 0;
  return {};
}

Status Machine::write(const ir::OpNode& op, uint64_t address, Dtype dtype, uint64_t bits) {
  auto bytes = static_cast<size_t>(dtype_bytes(dtype));
  TW_TRY(check_access(op, address, bytes, true));
  std::memcpy(reinterpret_cast<void*>(address), &bits, bytes);
  return {};
}

ErrorInfo Machine::fail(const ir::OpNode& op, DiagKind kind, const std::string& message) const {
  std::string where = "program (" + std::to_string(program_[0]) + ", " +
                      std::to_string(program_[1]) + ", " + std::to_string(program_[2]) + ")";
  std::string text = message;
  std::replace(text.begin(), text.end(), '\n', ' ');  // an assertion's text may have several lines
  text += ", in `" + std::string(ir::op_info(op.op).mnemonic) + "` of " + where;
  if (options_.sources && op.span.valid() && op.span.file < options_.sources->size()) {
    DiagSink sink;
    sink.error(kind, op.span, text);
    return {kind, text, {}, render(sink, *options_.sources)};
  }
  if (op.span.valid())
    text += " (bytes " + std::to_string(op.span.begin) + " to " + std::to_string(op.span.end) +
            " of the source)";
  return make_error(kind, text);
}

Status run(const ir::Module& module, const Launch& launch, const Options& options) {
  TW_CHECK(launch.arguments.size() == module.region(module.body).args.size(),
           "a launch has one argument slot for each parameter");
  Machine machine(module, launch, options);
  for (uint32_t z = 0; z < launch.grid[2]; ++z)
    for (uint32_t y = 0; y < launch.grid[1]; ++y)
      for (uint32_t x = 0; x < launch.grid[0]; ++x) TW_TRY(machine.run_program({x, y, z}));
  return {};
}

// ---- shapes ----

std::vector<int64_t> strides_of(const ir::Shape& shape) {
  std::vector<int64_t> strides(shape.size());
  int64_t stride = 1;
  for (size_t d = shape.size(); d-- > 0;) {
    strides[d] = stride;
    stride *= shape[d];
  }
  return strides;
}

std::vector<int64_t> unflatten(int64_t flat, const ir::Shape& shape) {
  std::vector<int64_t> index(shape.size());
  for (size_t d = shape.size(); d-- > 0;) {
    index[d] = flat % shape[d];
    flat /= shape[d];
  }
  return index;
}

int64_t flatten(const std::vector<int64_t>& index, const ir::Shape& shape) {
  int64_t flat = 0;
  for (size_t d = 0; d < shape.size(); ++d) flat = flat * shape[d] + index[d];
  return flat;
}

}  // namespace tilewright::interp
