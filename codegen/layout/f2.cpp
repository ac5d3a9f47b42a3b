#include "codegen/layout/f2.h"

#include <bit>

namespace tilewright::layout::f2 {

Matrix multiply(const Matrix& a, const Matrix& b) {
  Matrix product;
  for (uint32_t column : b) product.push_back(apply(a, column));
  return product;
}

uint32_t Span::reduce(uint32_t vector) const {
  for (uint32_t row : rows_)
    if (vector & std::bit_floor(row)) vector ^= row;
  return vector;
}

bool Span::insert(uint32_t vector) {
  vector = reduce(vector);
  if (vector == 0) return false;
  rows_.push_back(vector);
  return true;
}

int rank(const Matrix& columns) {
  return Span(columns).rank();
}

Solver::Solver(const Matrix& columns) {
  for (size_t i = 0; i < columns.size(); ++i) {
    Row row{columns[i], 1u << i};
    for (const Row& r : rows_)
      if (row.vector & std::bit_floor(r.vector)) {
        row.vector ^= r.vector;
        row.combination ^= r.combination;
      }
    if (row.vector != 0) rows_.push_back(row);
  }
}

std::optional<uint32_t> Solver::solve(uint32_t y) const {
  uint32_t x = 0;
  for (const Row& r : rows_)
    if (y & std::bit_floor(r.vector)) {
      y ^= r.vector;
      x ^= r.combination;
    }
  if (y != 0) return std::nullopt;
  return x;
}

Matrix kernel(const Matrix& columns) {
  Matrix basis;
  Matrix before;
  for (size_t i = 0; i < columns.size(); ++i) {
    if (auto x = Solver(before).solve(columns[i])) basis.push_back(*x | 1u << i);
    before.push_back(columns[i]);
  }
  return basis;
}

Matrix intersection(const Matrix& a, const Matrix& b) {
  // A vector a*x == b*y is a kernel vector (x, y) of [a b].
  Matrix both = a;
  both.insert(both.end(), b.begin(), b.end());
  Span span;
  Matrix result;
  for (uint32_t k : kernel(both)) {
    uint32_t vector = apply(a, k & static_cast<uint32_t>((uint64_t{1} << a.size()) - 1));
    if (span.insert(vector)) result.push_back(vector);
  }
  return result;
}

std::optional<Matrix> inverse(const Matrix& columns) {
  if (rank(columns) != static_cast<int>(columns.size())) return std::nullopt;
  Solver solver(columns);
  Matrix result;
  for (size_t i = 0; i < columns.size(); ++i) {
    auto x = solver.solve(1u << i);
    if (!x) return std::nullopt;
    result.push_back(*x);
  }
  return result;
}

}  // namespace tilewright::layout::f2
