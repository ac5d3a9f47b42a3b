// Linear algebra over F2 on vectors of up to 32 bits. A matrix is the list of its columns: column i
// is the image of 1 << i. Addition is XOR.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace tilewright::layout::f2 {

using Matrix = std::vector<uint32_t>;

// Matrix times vector: XOR of the columns for the bits set in x.
inline uint32_t apply(const Matrix& columns, uint32_t x) {
  uint32_t y = 0;
  for (size_t i = 0; i < columns.size(); ++i)
    if (x >> i & 1) y ^= columns[i];
  return y;
}
// Columns of a * b.
Matrix multiply(const Matrix& a, const Matrix& b);

// A growing subspace. Insertion order matters only for which vectors are told to be dependent.
class Span {
 public:
  Span() = default;
  explicit Span(const Matrix& vectors) {
    for (uint32_t v : vectors) insert(v);
  }
  // True if the vector was independent of what was inserted before.
  bool insert(uint32_t vector);
  bool contains(uint32_t vector) const { return reduce(vector) == 0; }
  // The representative of vector modulo the span.
  uint32_t reduce(uint32_t vector) const;
  int rank() const { return static_cast<int>(rows_.size()); }

 private:
  std::vector<uint32_t> rows_;  // echelon form: distinct leading bits
};

int rank(const Matrix& columns);

// Solves columns * x = y for many y. Among the solutions, free variables are zero, and the earliest
// columns that are independent are the ones used.
class Solver {
 public:
  explicit Solver(const Matrix& columns);
  std::optional<uint32_t> solve(uint32_t y) const;

 private:
  struct Row {
    uint32_t vector;       // echelon form of a combination of columns
    uint32_t combination;  // which columns
  };
  std::vector<Row> rows_;
};

// Basis of {x : columns * x == 0}.
Matrix kernel(const Matrix& columns);
// Basis of the intersection of two spans.
Matrix intersection(const Matrix& a, const Matrix& b);
// The inverse of a square matrix; nullopt if singular.
std::optional<Matrix> inverse(const Matrix& columns);

}  // namespace tilewright::layout::f2
