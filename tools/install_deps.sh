#!/usr/bin/env bash
# Installs what building and testing need, on Debian 12 or newer and Ubuntu 24.04: sourced or run by
# demo.sh and test.sh. Does nothing (and asks for nothing) when everything is there.
set -euo pipefail

packages=(g++ cmake ninja-build ccache lld pkg-config libfmt-dev libsqlite3-dev libgtest-dev libcli11-dev
          libxxhash-dev nlohmann-json3-dev zlib1g-dev libzstd-dev python3)

installed() { dpkg-query -W -f='${Status}\n' "$1" 2>/dev/null | grep -q '^install ok installed$'; }
as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi; }

if ! command -v apt-get >/dev/null; then
  echo "install_deps: no apt-get here; please install: ${packages[*]} llvm-19-dev" >&2
  exit 0
fi

missing=()
for package in "${packages[@]}"; do installed "$package" || missing+=("$package"); done
llvm=
for version in 19 20 21 22 18 15; do installed "llvm-$version-dev" && llvm=$version && break; done
if [ -z "$llvm" ] || [ ${#missing[@]} -gt 0 ]; then
  echo "== installing packages: ${missing[*]} ${llvm:+}${llvm:-llvm}"
  as_root apt-get update -qq
  if [ -z "$llvm" ]; then
    for version in 19 20 18 15; do
      if apt-cache show "llvm-$version-dev" >/dev/null 2>&1; then missing+=("llvm-$version-dev"); break; fi
    done
  fi
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
fi

# NVRTC compiles the CUDA text; where no toolkit has it, the wheel of the same library does. Programs look
# for it in the user's data folder (codegen/cuda/nvrtc_loader.cpp).
nvrtc_dir=${XDG_DATA_HOME:-$HOME/.local/share}/tilewright/nvrtc
nvrtc_present() {
  ldconfig -p 2>/dev/null | grep -q 'libnvrtc\.so' && return 0
  compgen -G "${CUDA_HOME:-/usr/local/cuda}/lib64/libnvrtc.so*" >/dev/null && return 0
  compgen -G "$nvrtc_dir/nvidia/*/lib/libnvrtc.so*" >/dev/null
}
if ! nvrtc_present; then
  echo "== installing NVRTC (the wheel nvidia-cuda-nvrtc) into $nvrtc_dir"
  installed python3-pip ||
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends python3-pip >/dev/null
  python3 -m pip install -q --no-deps --target "$nvrtc_dir" nvidia-cuda-nvrtc ||
    echo "install_deps: NVRTC could not be installed; CUDA targets will report no-nvrtc" >&2
fi
