// Machine code (SASS) of a kernel, as far as a report needs it, without NVIDIA's tools: what each
// instruction is, how many bytes it moves, where branches go, and which loops there are.
//
// The encoding is undocumented. Instructions are 16 bytes; opcodes.def says what the opcode field
// means; sass_test.cpp compares names, branch targets and widths with nvdisasm where that is found.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/cuda/cuda.h"

namespace tilewright::cuda::sass {

constexpr int kInstructionBytes = 16;

// What an instruction keeps busy. One table of names: class_name().
enum class Class : uint8_t {
  kTensor,   // HMMA, IMMA, QMMA, DMMA, HGMMA …
  kMatrix,   // LDSM, STSM, MOVM: fragments to and from shared memory
  kAsync,    // LDGSTS, UTMALDG: global to shared memory without registers
  kGlobal,   // LDG, STG, LD, ST
  kShared,   // LDS, STS
  kLocal,    // LDL, STL: spills and local arrays
  kAtomic,   // ATOM, RED …
  kFloat,    // FFMA, FADD, FMNMX …
  kHalf,     // HFMA2, HADD2 …: two 16-bit values
  kDouble,   // DFMA …
  kSpecial,  // MUFU
  kConvert,  // F2FP, I2F …
  kInteger,  // IADD3, LOP3, IMAD, PRMT …, and the uniform datapath
  kMove,     // MOV, SEL, S2R, constants, predicates
  kShuffle,  // SHFL, VOTE, REDUX
  kBarrier,  // BAR, DEPBAR, MEMBAR, WARPSYNC …
  kBranch,   // BRA, EXIT, CALL …
  kOther,    // NOP and what the table does not know
};
constexpr int kClasses = static_cast<int>(Class::kOther) + 1;
std::string_view class_name(Class c);  // "tensor", "ldmatrix", "cp.async" …

struct Instruction {
  uint32_t offset = 0;  // of its first byte, from the kernel's
  uint16_t opcode = 0;  // 12 bits: the low nine are the instruction, the rest its operands' form
  Class kind = Class::kOther;
  const char* mnemonic = nullptr;  // from the table; null when it is not there
  int bytes = 0;                   // a lane moves by it; 0 when it moves none or that is not known
  bool conditional = false;        // runs under a predicate
  int64_t target = -1;             // of a branch: an offset, else -1

  std::string name() const;  // the mnemonic, or the opcode as "0x1af"
};

// The kernel's instructions in order of address. A damaged cubin is the error `bad-cubin`.
Result<std::vector<Instruction>> decode(std::string_view cubin, const Source& source);

// Counts of a stretch of code.
struct Mix {
  int total = 0;  // issue slots; NOPs do not count
  std::array<int, kClasses> by_class{};
  std::map<std::string, int> by_name;
  // Bytes that one warp moves, all lanes taking part.
  int64_t shared_read = 0, shared_written = 0, global_read = 0, global_written = 0;

  void add(const Instruction& instruction);
  int operator[](Class c) const { return by_class[static_cast<size_t>(c)]; }
};

// A natural loop of the control flow: entered at its header, left and repeated inside.
struct Loop {
  uint32_t header = 0;  // offset of its first instruction
  uint32_t latch = 0;   // offset of the branch back
  int parent = -1;      // the loop around it, an index
  bool innermost = true;
  std::vector<int> instructions;  // indices, ascending; those of inner loops included
  Mix mix;                        // of these
  int conditional = 0;            // of these, in blocks that an iteration may skip
};

// Every loop, outer before inner, by address. Code that no branch of the table reaches is no loop.
std::vector<Loop> find_loops(const std::vector<Instruction>& code);

}  // namespace tilewright::cuda::sass
