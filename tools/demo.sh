#!/usr/bin/env bash
# The main job, from nothing: installs what is missing, builds, compiles a matmul kernel from its .py
# text, tunes it on the GPU found (else on the CPU), keeps the best config in SQLite, runs it on real
# input, checks the result and prints a table.
#   tools/demo.sh [BUILD_DIR]     default: build/release
set -euo pipefail
cd "$(dirname "$0")/.."
source tools/install_deps.sh
build=${1:-build/release}
if [ ! -f "$build/build.ninja" ]; then
  echo "== configuring $build"
  cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DTILEWRIGHT_BUILD_TESTS=OFF >/dev/null
fi
echo "== building"
NINJA_STATUS='[%f/%t %es] ' cmake --build "$build"
"$build/bin/tilewright" demo
