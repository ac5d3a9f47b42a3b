#include "codegen/cuda/sass.h"

#include <fmt/format.h>

#include <algorithm>

#include "codegen/cuda/cubin_file.h"
#include "dsl/base/check.h"

namespace tilewright::cuda::sass {
namespace {

// Where an instruction keeps the width of what it moves (bits of the second half).
enum class Width : uint8_t { kNone, kMemory, kMatrix, kAsync };

struct Row {
  uint16_t bits;  // nine bits of the opcode, or all twelve where the others tell rows apart
  const char* name;
  Class kind;
  Width width;
};

constexpr Row kRows[] = {
#define TW_OPCODE(bits, name, kind, width) {bits, name, Class::kind, Width::width},
#include "codegen/cuda/opcodes.def"
#undef TW_OPCODE
};

// The one number that means another instruction before sm_100.
constexpr Row kOldHfma2 = {0x035, "HFMA2", Class::kHalf, Width::kNone};

const Row* find_row(uint16_t opcode, int sm) {
  if (sm < 100 && (opcode & 0x1ff) == kOldHfma2.bits) return &kOldHfma2;
  for (const Row& row : kRows)
    if (row.bits == opcode) return &row;
  for (const Row& row : kRows)
    if (row.bits < 0x200 && row.bits == (opcode & 0x1ff)) return &row;
  return nullptr;
}

int moved_bytes(Width width, uint64_t high, int sm) {
  switch (width) {
    case Width::kNone:
      return 0;
    case Width::kMemory: {
      constexpr int kBytes[] = {1, 1, 2, 2, 4, 8, 16, 16};
      return kBytes[high >> 9 & 7];
    }
    case Width::kMatrix: {
      constexpr int kBytes[] = {4, 8, 16, 0};
      return kBytes[high >> 8 & 3];
    }
    case Width::kAsync: {
      constexpr int kBytes[] = {4, 8, 16, 0};
      return kBytes[sm < 100 ? high >> 9 & 3 : high >> 10 & 3];
    }
  }
  TW_UNREACHABLE("unknown width");
}

constexpr uint64_t kAlways = 7;  // the predicate PT
constexpr uint16_t kUniformForm = 0x400;
constexpr uint16_t kBra = 0x147, kExit = 0x14d, kBrx = 0x149, kRet = 0x150;

// The signed byte distance of a branch, from the next instruction. Before sm_90 it lies in bits 34
// to 81, in words; from then on bits 16 to 23 hold its lowest eight.
int64_t branch_distance(uint64_t low, uint64_t high, int sm) {
  auto extend = [](uint64_t value, int bits) {
    return static_cast<int64_t>(value << (64 - bits)) >> (64 - bits);
  };
  uint64_t top = high & 0x3ffff;
  uint64_t upper = low >> 34 | top << 30;
  if (sm < 90) return extend(upper, 48) * 4;
  return extend(upper << 8 | (low >> 16 & 0xff), 56) * 4;
}

Instruction decode_one(uint32_t offset, uint64_t low, uint64_t high, int sm) {
  Instruction out;
  out.offset = offset;
  out.opcode = low & 0xfff;
  out.conditional = (low >> 12 & 0xf) != kAlways;
  if (const Row* row = find_row(out.opcode, sm)) {
    out.kind = row->kind;
    out.mnemonic = row->name;
    out.bytes = moved_bytes(row->width, high, sm);
  }
  if ((out.opcode & 0x1ff) == kBra) {
    out.target = int64_t{offset} + kInstructionBytes + branch_distance(low, high, sm);
    // A second predicate, or a uniform one in its place.
    out.conditional |= (high >> 23 & 0x7) != kAlways || out.opcode == (kUniformForm | kBra);
  }
  return out;
}

bool never_falls_through(const Instruction& i) {
  uint16_t bits = i.opcode & 0x1ff;
  return !i.conditional && (bits == kBra || bits == kExit || bits == kBrx || bits == kRet);
}

bool ends_block(const Instruction& i) {
  uint16_t bits = i.opcode & 0x1ff;
  return bits == kBra || bits == kExit || bits == kBrx || bits == kRet;
}

}  // namespace

std::string_view class_name(Class c) {
  switch (c) {
    case Class::kTensor:
      return "tensor";
    case Class::kMatrix:
      return "ldmatrix";
    case Class::kAsync:
      return "cp.async";
    case Class::kGlobal:
      return "global";
    case Class::kShared:
      return "shared";
    case Class::kLocal:
      return "local";
    case Class::kAtomic:
      return "atomic";
    case Class::kFloat:
      return "float";
    case Class::kHalf:
      return "half2";
    case Class::kDouble:
      return "double";
    case Class::kSpecial:
      return "special";
    case Class::kConvert:
      return "convert";
    case Class::kInteger:
      return "integer";
    case Class::kMove:
      return "move";
    case Class::kShuffle:
      return "shuffle";
    case Class::kBarrier:
      return "barrier";
    case Class::kBranch:
      return "branch";
    case Class::kOther:
      return "other";
  }
  TW_UNREACHABLE("unknown class");
}

std::string Instruction::name() const {
  return mnemonic ? mnemonic : fmt::format("0x{:03x}", opcode & 0x1ff);
}

Result<std::vector<Instruction>> decode(std::string_view data, const Source& source) {
  std::optional<CubinFile> cubin = CubinFile::open(data);
  if (!cubin) return bad_cubin(source, "it is no CUDA binary, or is cut off");
  const Section* text = cubin->find(".text.", source.entry);
  if (!text) return bad_cubin(source, "it does not hold this kernel");
  std::vector<Instruction> code;
  for (size_t at = 0; at + kInstructionBytes <= text->bytes.size(); at += kInstructionBytes) {
    uint64_t low = 0, high = 0;
    read_at(text->bytes, at, low);
    read_at(text->bytes, at + 8, high);
    code.push_back(decode_one(static_cast<uint32_t>(at), low, high, cubin->sm()));
  }
  return code;
}

void Mix::add(const Instruction& i) {
  if (i.mnemonic && std::string_view(i.mnemonic) == "NOP") return;
  ++total;
  ++by_class[static_cast<size_t>(i.kind)];
  ++by_name[i.name()];
  int64_t bytes = 32 * int64_t{i.bytes};
  bool writes = i.mnemonic && std::string_view(i.mnemonic).starts_with("ST");
  if (i.kind == Class::kShared || i.kind == Class::kMatrix)
    (writes ? shared_written : shared_read) += bytes;
  if (i.kind == Class::kGlobal) (writes ? global_written : global_read) += bytes;
  if (i.kind == Class::kAsync) shared_written += bytes, global_read += bytes;
}

// ---- loops ----

namespace {

// Basic blocks of a kernel and their edges; block 0 is the entry.
struct Graph {
  std::vector<int> begin;  // first instruction of each block, ascending
  std::vector<std::vector<int>> successors, predecessors;
  std::vector<int> block_of;  // by instruction

  explicit Graph(const std::vector<Instruction>& code);
  int size() const { return static_cast<int>(begin.size()); }
  int end(int block) const {
    return block + 1 < size() ? begin[static_cast<size_t>(block) + 1]
                              : static_cast<int>(block_of.size());
  }
};

Graph::Graph(const std::vector<Instruction>& code) : block_of(code.size()) {
  const auto count = static_cast<int64_t>(code.size());
  auto target_index = [&](const Instruction& i) {
    bool inside = i.target >= 0 && i.target % kInstructionBytes == 0;
    return inside && i.target / kInstructionBytes < count ? i.target / kInstructionBytes : -1;
  };
  std::vector<bool> starts(code.size() + 1);
  starts[0] = true;
  for (size_t i = 0; i < code.size(); ++i) {
    if (!ends_block(code[i])) continue;
    starts[i + 1] = true;
    if (int64_t to = target_index(code[i]); to >= 0) starts[static_cast<size_t>(to)] = true;
  }
  for (size_t i = 0; i < code.size(); ++i) {
    if (starts[i]) begin.push_back(static_cast<int>(i));
    block_of[i] = size() - 1;
  }
  successors.resize(begin.size());
  predecessors.resize(begin.size());
  for (int b = 0; b < size(); ++b) {
    const Instruction& last = code[static_cast<size_t>(end(b)) - 1];
    std::vector<int>& to = successors[static_cast<size_t>(b)];
    if (!never_falls_through(last) && b + 1 < size()) to.push_back(b + 1);
    if (int64_t target = target_index(last); target >= 0)
      to.push_back(block_of[static_cast<size_t>(target)]);
    for (int s : to) predecessors[static_cast<size_t>(s)].push_back(b);
  }
}

using Blocks = std::vector<bool>;

// For each block, the blocks that every path to it passes through; empty for unreachable ones.
std::vector<Blocks> dominators(const Graph& graph) {
  const auto count = static_cast<size_t>(graph.size());
  std::vector<Blocks> dominators(count);
  if (count == 0) return dominators;
  dominators[0] = Blocks(count);
  dominators[0][0] = true;
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t b = 1; b < count; ++b) {
      Blocks meet;
      for (int p : graph.predecessors[b]) {
        const Blocks& from = dominators[static_cast<size_t>(p)];
        if (from.empty()) continue;  // not reached yet
        if (meet.empty()) {
          meet = from;
        } else {
          for (size_t i = 0; i < count; ++i) meet[i] = meet[i] && from[i];
        }
      }
      if (meet.empty()) continue;
      meet[b] = true;
      if (meet == dominators[b]) continue;
      dominators[b] = std::move(meet);
      changed = true;
    }
  }
  return dominators;
}

// The blocks from which `latch` is reached without passing `header`, which belongs too.
Blocks loop_body(const Graph& graph, int header, int latch) {
  Blocks body(static_cast<size_t>(graph.size()));
  body[static_cast<size_t>(header)] = true;
  std::vector<int> work = {latch};
  while (!work.empty()) {
    int block = work.back();
    work.pop_back();
    if (body[static_cast<size_t>(block)]) continue;
    body[static_cast<size_t>(block)] = true;
    for (int p : graph.predecessors[static_cast<size_t>(block)]) work.push_back(p);
  }
  return body;
}

struct Found {
  int header = 0, latch = 0;
  Blocks body;
  Blocks always;  // blocks that every iteration runs
};

std::vector<Found> natural_loops(const Graph& graph) {
  std::vector<Blocks> dominated_by = dominators(graph);
  std::vector<Found> found;
  for (int latch = 0; latch < graph.size(); ++latch)
    for (int header : graph.successors[static_cast<size_t>(latch)]) {
      const Blocks& above = dominated_by[static_cast<size_t>(latch)];
      // The last instruction of a kernel jumps to itself, in a block that nothing reaches.
      if (above.empty() || !above[static_cast<size_t>(header)]) continue;
      Blocks body = loop_body(graph, header, latch);
      auto same = std::find_if(found.begin(), found.end(),
                               [&](const Found& f) { return f.header == header; });
      if (same == found.end()) {
        found.push_back({header, latch, std::move(body), above});
        continue;
      }
      same->latch = latch;
      for (size_t b = 0; b < body.size(); ++b) {
        same->body[b] = same->body[b] || body[b];
        same->always[b] = same->always[b] && above[b];
      }
    }
  return found;
}

}  // namespace

std::vector<Loop> find_loops(const std::vector<Instruction>& code) {
  if (code.empty()) return {};
  Graph graph(code);
  std::vector<Found> found = natural_loops(graph);
  auto size = [](const Found& f) { return std::count(f.body.begin(), f.body.end(), true); };
  std::stable_sort(found.begin(), found.end(), [&](const Found& a, const Found& b) {
    return a.header != b.header ? a.header < b.header : size(a) > size(b);
  });
  std::vector<Loop> loops;
  for (size_t n = 0; n < found.size(); ++n) {
    const Found& f = found[n];
    Loop loop;
    loop.header = code[static_cast<size_t>(graph.begin[static_cast<size_t>(f.header)])].offset;
    loop.latch = code[static_cast<size_t>(graph.end(f.latch)) - 1].offset;
    for (int b = 0; b < graph.size(); ++b) {
      if (!f.body[static_cast<size_t>(b)]) continue;
      for (int i = graph.begin[static_cast<size_t>(b)]; i < graph.end(b); ++i) {
        loop.instructions.push_back(i);
        loop.mix.add(code[static_cast<size_t>(i)]);
        loop.conditional += !f.always[static_cast<size_t>(b)];
      }
    }
    // The smallest loop around it that was found before.
    for (size_t outer = 0; outer < n; ++outer)
      if (found[outer].body[static_cast<size_t>(f.header)] &&
          (loop.parent < 0 || size(found[outer]) < size(found[static_cast<size_t>(loop.parent)])))
        loop.parent = static_cast<int>(outer);
    if (loop.parent >= 0) loops[static_cast<size_t>(loop.parent)].innermost = false;
    loops.push_back(std::move(loop));
  }
  return loops;
}

}  // namespace tilewright::cuda::sass
