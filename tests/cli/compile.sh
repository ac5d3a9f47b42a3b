#!/usr/bin/env bash
# tilewright check and compile: every stage of every emit kind, for every target, without a GPU.
source "$(dirname "$0")/lib.sh"
K=$ROOT/kernels_lib
add=("$BIN/tilewright" compile "$K/vector_add/kernel.py::vector_add" --arg 'x_ptr=*bf16:16' --arg 'y_ptr=*bf16:16'
     --arg 'z_ptr=*bf16:16' --arg n=i32 --const BLOCK=1024)

expect 0 "vector_add ok" "$BIN/tilewright" check "$K"/*/kernel.py
expect 0 '"ok": true' "$BIN/tilewright" check --json "$K/matmul/kernel.py"
expect 0 "vector_add" "${add[@]}" --emit ast
expect 0 "kernel @vector_add" "${add[@]}" --emit ir
expect 0 "void vector_add(" "${add[@]}" --emit cuda
expect 0 "define" "${add[@]}" --emit llvm
expect 0 "vector_add" "${add[@]}" --emit asm
for target in sm_75 sm_80 sm_86 sm_89 sm_90 sm_100 sm_120; do
  expect 0 "spill instructions 0" "${add[@]}" --target $target --emit report
done
expect 0 ".entry" "${add[@]}" --emit ptx
expect 0 "" "${add[@]}" --emit cubin -o add.cubin
expect 0 "ELF" head -c 4 add.cubin
expect 0 "1" "$BIN/tilewright" --version
expect 2 "kernel" "$BIN/tilewright" compile
expect 2 "" "$BIN/tilewright" nonsense
finish
