#!/usr/bin/env bash
# tilewright run on every host executor; arrays through .npy files; autotune and what it keeps.
source "$(dirname "$0")/lib.sh"
K=$ROOT/kernels_lib
add=("$BIN/tilewright" run "$K/vector_add/kernel.py::vector_add" --grid 'cdiv(n,BLOCK)' 'x_ptr=arange(f32,[n])'
     'y_ptr=arange(f32,[n])' 'z_ptr=empty(f32,[n])' n=100 --const BLOCK=64)

for device in interp cpu emulated emulated:sm_75; do
  expect 0 "z_ptr f32[100] min 0 max 198 mean 99" "${add[@]}" --device $device --save z_ptr=z.npy
done
expect 0 "z_ptr f32[100] min 0 max 297 mean 148.5" "$BIN/tilewright" run "$K/vector_add/kernel.py" --grid 'cdiv(n,BLOCK)' \
  x_ptr=@z.npy 'y_ptr=arange(f32,[n])' 'z_ptr=empty(f32,[n])' n=100 --const BLOCK=64 --device interp
python3 - <<'P'
import struct
data = open("z.npy", "rb").read()
assert data[:6] == b"\x93NUMPY", data[:6]
size = struct.unpack("<H", data[8:10])[0]
values = struct.unpack("<100f", data[10 + size:])
assert values == tuple(2.0 * i for i in range(100)), values
P

expect 0 "y_ptr f32[3, 50]" "$BIN/tilewright" run "$K/softmax/kernel.py::softmax" --grid rows 'x_ptr=rand(f32,[rows,cols],seed=1)' \
  'y_ptr=empty(f32,[rows,cols])' x_stride=cols y_stride=cols cols=50 rows=3 --const BLOCK=64 --device interp

tune=("$BIN/autotune" "$K/matmul/kernel.py::matmul" --grid 'cdiv(M,BLOCK_M)*cdiv(N,BLOCK_N)' 'a_ptr=rand(f32,[M,K],seed=1)'
      'b_ptr=rand(f32,[K,N],seed=2)' 'c_ptr=empty(f32,[M,N])' M=40 N=40 K=40 stride_am=K stride_ak=1 stride_bk=N
      stride_bn=1 stride_cm=N stride_cn=1 --device cpu --space 'BLOCK_M=16,32 BLOCK_N=32 BLOCK_K=16,24 GROUP_M=4 warps=2')
expect 0 "(4 measured now)" "${tune[@]}"
expect 0 "(0 measured now)" "${tune[@]}"
expect 0 "power of two" "${tune[@]}"
expect 0 '"measured": 0' "${tune[@]}" --json
expect 0 "(4 measured now)" "${tune[@]}" --force
expect 0 "measured now" "$BIN/tilewright" demo --device cpu --size 64
expect 0 " 0 measured now" "$BIN/tilewright" demo --device cpu --size 64
finish
