#!/usr/bin/env bash
# Wrong input of every kind: a clear, located error or a recovery; nothing lost, no abort.
source "$(dirname "$0")/lib.sh"
K=$ROOT/kernels_lib

# kernel BODY…: a kernel file with the given body.
kernel() {
  printf 'import triton\nimport triton.language as tl\n\n\n@triton.jit\ndef k(x, y, n, B: tl.constexpr):\n' >k.py
  printf '    %s\n' "$@" >>k.py
}
compile=("$BIN/tilewright" compile k.py::k --arg 'x=*f32' --arg 'y=*f32' --arg n=i32 --const B=64 --emit ir)

kernel 'tl.store(x + tl.arange(0, B), undefined_name)'
expect 1 "k.py:7:35: error:" "${compile[@]}"
expect 1 "[unknown-name]" "${compile[@]}"
kernel 'a = tl.arange(0, 32)' 'tl.store(x + tl.arange(0, B), a)'
expect 1 "[shape-mismatch]" "${compile[@]}"
kernel 'a = tl.zeros((16, 32), tl.float16)' 'c = tl.dot(a, a)'
expect 1 "[dot-shape-mismatch]" "${compile[@]}"
kernel 'a = tl.arange(0, 48)'
expect 1 "[not-power-of-two]" "${compile[@]}"
kernel 'if n > 3:' '    a = 1' 'else:' '    a = 1.0' 'tl.store(x, a)'
expect 1 "[type-mismatch-branch]" "${compile[@]}"
kernel 'a = 0' 'for i in range(n):' '    a += 1.5' 'tl.store(x, a)'
expect 1 "[type-mismatch-loop]" "${compile[@]}"
kernel 'tl.store(x + tl.arange(0, B), 1.0, mask=tl.arange(0, 32) < n)'
expect 1 "mask" "${compile[@]}"
kernel 'a = tl.zeros((2048, 2048), tl.float32)'
expect 1 "[tile-too-large]" "${compile[@]}"
kernel 'tl.load(x, msk=n)'
expect 1 "[unexpected-argument]" "${compile[@]}"
kernel 'tl.load()'
expect 1 "[missing-argument]" "${compile[@]}"
kernel 'tl.static_assert(B == 32, "B must be 32")'
expect 1 "B must be 32" "${compile[@]}"
kernel 'tl.map_elementwise(x, x)'
expect 1 "[unsupported-builtin]" "${compile[@]}"
kernel 'a = (1 +'
expect 1 "[syntax]" "${compile[@]}"
kernel 'a = 1' '  b = 2'
expect 1 "[bad-indent]" "${compile[@]}"
kernel 'pass'
expect 1 "[missing-argument]" "$BIN/tilewright" compile k.py::k --arg 'x=*f32' --emit ir
expect 1 "[unknown-argument]" "${compile[@]}" --const C=1
expect 1 "no_such" "$BIN/tilewright" compile k.py::no_such --emit ir
expect 1 "[io]" "$BIN/tilewright" compile absent.py::k --emit ir
expect 1 "[bad-argument]" "${compile[@]}" --arg 'x=*f12'
expect 1 "[bad-argument]" "$BIN/tilewright" compile k.py::k --arg 'x=*f32' --arg 'y=*f32' --arg n=i32 --const B=64 --target sm_42 --emit cuda

# Configs that only Python could evaluate.
printf '%s\n' 'import triton' 'import triton.language as tl' '@triton.autotune(configs=ask_somebody(), key=[])' '@triton.jit' \
  'def k(x, B: tl.constexpr):' '    tl.store(x + tl.arange(0, B), 1.0)' >configs.py
expect 1 "configs.py:3:26: error:" "$BIN/autotune" configs.py::k --grid 1 'x=zeros(f32,[8])' --device interp
expect 0 "best B=8" "$BIN/autotune" configs.py::k --grid 1 'x=zeros(f32,[8])' --device interp --space 'B=8'

# Resources of the target.
matmul=("$BIN/tilewright" compile "$K/matmul/kernel.py::matmul" --arg 'a_ptr=*f32:16' --arg 'b_ptr=*f32:16' --arg 'c_ptr=*f32:16'
        --arg M=i32:16 --arg N=i32:16 --arg K=i32:16 --arg stride_am=i32:16 --arg stride_ak=i32=1 --arg stride_bk=i32:16
        --arg stride_bn=i32=1 --arg stride_cm=i32:16 --arg stride_cn=i32=1 --const GROUP_M=8)
expect 1 "[out-of-resources]" "${matmul[@]}" --const BLOCK_M=256 --const BLOCK_N=256 --const BLOCK_K=128 --num-warps 8 \
  --target sm_75 --emit cuda

# The environment.
run=("$BIN/tilewright" run "$K/vector_add/kernel.py" --grid 1 'x_ptr=zeros(f32,[64])' 'y_ptr=zeros(f32,[64])'
     'z_ptr=empty(f32,[64])' n=64 --const BLOCK=64)
expect 1 "[no-driver]" env TILEWRIGHT_CUDA_DRIVER=none "${run[@]}" --device cuda
expect 0 "z_ptr f32[64]" env TILEWRIGHT_CUDA_DRIVER=none "${run[@]}"
expect 1 "[no-nvrtc]" env TILEWRIGHT_NVRTC=/nonexistent/libnvrtc.so "${matmul[@]}" --const BLOCK_M=32 --const BLOCK_N=32 --const BLOCK_K=32 --emit cubin
expect 1 "[no-device]" "${run[@]}" --device gpu7
expect 1 "n" "$BIN/tilewright" run "$K/vector_add/kernel.py" --grid 1 'x_ptr=zeros(f32,[64])' --const BLOCK=64 --device interp
expect 1 "[out-of-bounds]" "$BIN/tilewright" run "$K/vector_add/kernel.py" --grid 1 'x_ptr=zeros(f32,[8])' 'y_ptr=zeros(f32,[64])' \
  'z_ptr=empty(f32,[64])' n=64 --const BLOCK=64 --device interp
expect 1 "[out-of-memory]" "$BIN/tilewright" run "$K/vector_add/kernel.py" --grid 1 'x_ptr=zeros(f32,[200000000000])' --device interp
printf 'not an array' >bad.npy
expect 1 "bad.npy" "$BIN/tilewright" run "$K/vector_add/kernel.py" --grid 1 x_ptr=@bad.npy --device interp

# A damaged database is kept aside and replaced; an unusable one costs the memory of the results only.
head -c 5000 /dev/urandom >"$TILEWRIGHT_DB"
expect 0 "was damaged" "$BIN/tilewright" demo --device cpu --size 32
expect 0 "corrupt" ls "$work"
mkdir dir.db
expect 0 "in memory only" "$BIN/tilewright" demo --device cpu --size 32 --db dir.db

# Cache entries that are damaged, and a cache that cannot be written, cost a recompile.
emulate=("${run[@]}" --device emulated)
expect 0 "z_ptr f32[64]" "${emulate[@]}"
find "$TILEWRIGHT_CACHE" -type f -exec truncate -s 100 {} +
expect 0 "z_ptr f32[64]" "${emulate[@]}"
touch "$work/file"
expect 0 "z_ptr f32[64]" env TILEWRIGHT_CACHE="$work/file/cache" "${run[@]}" --device interp
finish
