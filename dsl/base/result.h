// Result<T>: a value or an Error. Errors are values; `.value()` throws for callers who like that.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "dsl/base/api.h"
#include "dsl/base/diagnostic.h"

namespace tilewright {

// What went wrong. `message` follows the rules of diagnostics; `hint` is one legal way out;
// `details` holds rendered diagnostics with carets, or a tool's log.
struct TILEWRIGHT_API ErrorInfo {
  DiagKind kind = DiagKind::kInternal;
  std::string message;
  std::string hint;
  std::string details;

  // Everything as text: details if there are any, else "error: message [kind]", then the hint.
  std::string text() const;
};

// The exception that Result::value() throws. what() is ErrorInfo::text().
class TILEWRIGHT_API Error : public std::runtime_error {
 public:
  explicit Error(ErrorInfo info) : std::runtime_error(info.text()), info_(std::move(info)) {}
  const ErrorInfo& info() const { return info_; }

 private:
  ErrorInfo info_;
};

inline ErrorInfo make_error(DiagKind kind, std::string message, std::string hint = {}) {
  return {kind, std::move(message), std::move(hint), {}};
}

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}          // NOLINT: implicit
  Result(ErrorInfo error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT: implicit

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }
  const ErrorInfo& error() const { return std::get<1>(state_); }
  T& value() & { return check(), std::get<0>(state_); }
  const T& value() const& { return check(), std::get<0>(state_); }
  T&& value() && { return check(), std::move(std::get<0>(state_)); }
  T& operator*() { return std::get<0>(state_); }
  const T& operator*() const { return std::get<0>(state_); }
  T* operator->() { return &std::get<0>(state_); }
  const T* operator->() const { return &std::get<0>(state_); }

 private:
  void check() const {
    if (!ok()) throw Error(error());
  }
  std::variant<T, ErrorInfo> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(ErrorInfo error) : error_(std::move(error)) {}  // NOLINT: implicit

  bool ok() const { return !error_; }
  explicit operator bool() const { return ok(); }
  const ErrorInfo& error() const { return *error_; }
  void value() const {
    if (error_) throw Error(*error_);
  }

 private:
  std::optional<ErrorInfo> error_;
};

using Status = Result<void>;

}  // namespace tilewright

// Returns the error of `expression` from the calling function, or continues.
#define TW_TRY(expression)                                                           \
  do {                                                                               \
    if (auto tw_status_ = (expression); !tw_status_.ok()) return tw_status_.error(); \
  } while (false)

#define TW_CONCAT_INNER_(a, b) a##b
#define TW_CONCAT_(a, b) TW_CONCAT_INNER_(a, b)
// TW_ASSIGN(auto x, f()): declares x as the value of f(), or returns its error.
#define TW_ASSIGN(declaration, expression) \
  TW_ASSIGN_IMPL_(TW_CONCAT_(tw_result_, __LINE__), declaration, expression)
#define TW_ASSIGN_IMPL_(result, declaration, expression) \
  auto result = (expression);                            \
  if (!result.ok()) return result.error();               \
  declaration = std::move(*result)
