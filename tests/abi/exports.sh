#!/bin/sh
# The dynamic symbols of libtilewright.so are the interface alone: every tw_ function that the header
# declares, marked C++ classes and functions, and nothing of LLVM, fmt or the standard library.
set -eu
library=$1 header=$2
symbols=$(nm -D --defined-only "$library" | awk '{print $3}' | sed 's/@.*//')
status=0
declared=$(sed -n 's/^TW_API.*[ *]\(tw_[a-z_]*\)(.*/\1/p' "$header" | sort)
exported=$(printf '%s\n' "$symbols" | grep '^tw_' | sort)
if [ "$declared" != "$exported" ]; then
  echo "declared and exported functions differ:"
  printf '%s\n' "$declared" >/tmp/tw_declared.$$
  printf '%s\n' "$exported" | diff /tmp/tw_declared.$$ - || true
  rm -f /tmp/tw_declared.$$
  status=1
fi
other=$(printf '%s\n' "$symbols" | grep -v '^tw_' | c++filt |
  grep -v -E '^(tilewright::|(typeinfo|typeinfo name|vtable) for tilewright::|$)' || true)
if [ -n "$other" ]; then
  echo "exported, but not part of the interface:"
  printf '%s\n' "$other" | head -20
  status=1
fi
internal=$(printf '%s\n' "$symbols" | c++filt |
  grep -E '^tilewright::(ir|frontend|dsl|passes|cuda|cpu|interp|layout|cache|device|launch|runtime)::' || true)
if [ -n "$internal" ]; then
  echo "internals are exported:"
  printf '%s\n' "$internal" | head -20
  status=1
fi
exit $status
