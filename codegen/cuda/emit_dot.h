// A matrix product by mma instructions: what its parts share.
//
//   emit_dot.cpp            the main loop: which fragments are loaded when, the order of products
//   emit_dot_operand.cpp    where the fragments of an operand come from
//   emit_dot_fragments.cpp  the text that brings them into registers
//   emit_dot_sides.cpp      metadata and scales beside the operands
//   emit_dot_fma.cpp        dots element by element
//
// The warp's share of a dot is a sequence of units: for each step along K (and batch) the chunks of
// B's tiles along N. A unit multiplies all of A's fragments of the step with those of the chunk.
// The fragments of the next unit are loaded before the products of this one.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "codegen/cuda/emit_convert.h"
#include "codegen/cuda/emitter.h"
#include "codegen/cuda/layouts.h"
#include "codegen/layout/mma.h"

namespace tilewright::cuda {

// One operand: its fragments, and how they get into registers.
struct DotOperand {
  View view;  // in the fragment layout, unless `in_shared`
  // Read from shared memory by `load`: from a slot of a buffer, or from scratch where it was
  // staged.
  bool in_shared = false;
  layout::SharedAccess load;
  SharedStart start = {};

  Dtype dtype{};
  int values = 1;  // of one fragment in a thread
  int packed = 1;  // values in one word
  int tiles = 1, k_tiles = 1, batch = 1;
  int chunk = 1;     // tiles that are loaded together
  std::string name;  // array of words: two sets, of this unit and the next, where they overlap
  int sets = 1;
  std::map<uint32_t, std::string> addresses;  // by the bits that meet the thread's part

  int words() const { return values / packed; }
  int chunks() const { return tiles / chunk; }
  // Register number -> k tile, tile along M or N, batch.
  int k_tile(int r) const { return r / values % k_tiles; }
  int tile(int r) const { return r / (values * k_tiles) % tiles; }
  int batch_of(int r) const { return r / (values * k_tiles * tiles); }
  int register_of(int z, int at_tile, int k, int value) const {
    return ((z * tiles + at_tile) * k_tiles + k) * values + value;
  }
};

struct MmaDot {
  Emitter& e;
  ir::OpId id;
  const ir::OpNode& op;
  const DotPlan& plan;
  layout::MmaCounts counts = {};
  DotOperand a = {}, b = {};
  int group = 1, batches = 1;  // k tiles and batches that are loaded together
  std::string acc = {};
  std::vector<std::string> sides = {};  // arrays of words: metadata of A, or scales of A and B

  int groups() const { return counts.k / group; }
  int batch_groups() const { return counts.batch / batches; }
  // Words of one set of fragments.
  int words(const DotOperand& f) const { return f.chunk * group * batches * f.words(); }
  // Place of a register's value in its set.
  int local(const DotOperand& f, int r) const {
    int place = f.batch_of(r) % batches * f.chunk + f.tile(r) % f.chunk;
    return (place * group + f.k_tile(r) % group) * f.values + r % f.values;
  }
};

// One set of an operand's fragments.
struct FragmentSet {
  int batch_group = 0, k_group = 0, chunk = 0;
};

// What is multiplied between two loads.
struct DotUnit {
  FragmentSet a, b;
  int set_a = 0, set_b = 0;
  bool new_a = true;  // the first unit of a step
};

// ---- emit_dot.cpp ----
// Operands and chunks of a dot; staging, if there is any, is emitted.
MmaDot begin_dot(Emitter& e, ir::OpId id);
std::vector<DotUnit> dot_units(const MmaDot& dot);
// The sum's variable, which starts as `start`; and what the dot's result is of it.
View declare_sum(MmaDot& dot, const View& start);
void define_sum(MmaDot& dot, View sum);
// All units in order, each one's fragments loaded before the products of the one before. The first
// may have been loaded already; `before_last` emits what stands before the products of the last.
void emit_units(MmaDot& dot, bool first_is_loaded, const std::function<void()>& before_last);

// ---- emit_dot_operand.cpp ----
// Fills dot.a and dot.b but for chunks and names; stages in scratch what has to be.
void plan_operands(MmaDot& dot);

// ---- emit_dot_fragments.cpp ----
// Declares the arrays.
void declare_fragments(MmaDot& dot, DotOperand& f, std::string_view hint);
// Declares variables for the addresses that depend on the slot and the thread.
void declare_addresses(MmaDot& dot, DotOperand& f);
// Brings a set into the operand's set number `set`; what remains to be done to the words (packing,
// rounding, splitting) waits until finish_fragments, so that it does not wait for the memory.
void load_fragments(MmaDot& dot, const DotOperand& f, const FragmentSet& which, int set);
void finish_fragments(MmaDot& dot, const DotOperand& f, const FragmentSet& which, int set);
// "fa + 16" for word 16 of a set.
std::string fragment_words(const MmaDot& dot, const DotOperand& f, int set,
                           std::string_view suffix = {});

// ---- emit_dot_sides.cpp ----
// Metadata and scales, which may themselves go through scratch: to be called before the operands
// are staged. None for other dots.
std::vector<View> use_sides(Emitter& e, ir::OpId id);
// Declares their words.
void declare_sides(MmaDot& dot, const std::vector<View>& views);
// What the instruction at a k tile, and tiles m and n (texts, or empty where there is one), says of
// them: template arguments and the last arguments.
struct SideUse {
  std::string selectors, arguments;
};
SideUse use_of_sides(const MmaDot& dot, int k_tile, const std::string& m, const std::string& n);

// ---- emit_dot_fma.cpp ----
void emit_fma_dot(Emitter& e, ir::OpId id, const DotPlan& plan);

}  // namespace tilewright::cuda
