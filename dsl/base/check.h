// Internal errors: a broken invariant of ours, never a mistake of the user's.
//
// TW_CHECK throws InternalError; it is caught at three places only (the C API boundary, the tuner's
// candidate loop and the test runner). The library never aborts or exits.
#pragma once

#include <stdexcept>
#include <string>

namespace tilewright {

class InternalError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

[[noreturn]] void throw_internal_error(const char* file, int line, const std::string& message);

}  // namespace tilewright

#define TW_CHECK(condition, message)                                                \
  do {                                                                              \
    if (!(condition))                                                               \
      ::tilewright::throw_internal_error(__FILE__, __LINE__,                        \
                                         std::string(#condition ": ") + (message)); \
  } while (false)

#define TW_UNREACHABLE(message) ::tilewright::throw_internal_error(__FILE__, __LINE__, (message))
