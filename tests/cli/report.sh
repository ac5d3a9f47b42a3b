#!/usr/bin/env bash
# tilewright compile --emit report and sass; options that bound registers and spills. No GPU is needed.
source "$(dirname "$0")/lib.sh"
K=$ROOT/kernels_lib
matmul=("$BIN/tilewright" compile "$K/matmul/kernel.py::matmul" --arg 'a_ptr=*f16:16' --arg 'b_ptr=*f16:16' --arg 'c_ptr=*f16:16'
        --arg M=i32:16 --arg N=i32:16 --arg K=i32:16 --arg stride_am=i32:16 --arg stride_ak=i32=1 --arg stride_bk=i32:16
        --arg stride_bn=i32=1 --arg stride_cm=i32:16 --arg stride_cn=i32=1 --const GROUP_M=8)
tile=(--const BLOCK_M=128 --const BLOCK_N=128 --const BLOCK_K=32 --num-warps 8)

# The parts of a report that no compiler version changes: what the author's loop asks for, and rates of the card.
"${matmul[@]}" "${tile[@]}" --arch sm_89 >report.txt
cat >expected.txt <<'T'
kernel             matmul
target             sm_89, judged as RTX 4090 (128 SM, 2520 MHz, 1008 GB/s, 72 MiB of L2)
launch             256 threads (8 warps), 3 stages
spill instructions 0
stack bytes        0
  a program        0 bytes loaded by 0 loads, 32768 stored by 1 stores
  a step           16384 bytes loaded by 2 loads, 0 stored by 0 stores, 1048576 operations of dots (16-bit floats, f32 sums)
  intensity        64.0 operations a byte of global memory
    tensor            2048.0  1048576 operations / 512 (16-bit floats, f32 sums)
    L2                 256.0  16384 bytes / 64
T
while IFS= read -r line; do expect 0 "$line" cat report.txt; done <expected.txt
expect 0 "loop 1 $K/matmul/kernel.py:57-" cat report.txt
expect 0 "HMMA:32" cat report.txt
expect 0 "bound            tensor: at most 165.2 TFLOP/s" cat report.txt
expect 0 "time nvrtc" cat report.txt

# As JSON, with sums that must agree.
expect 0 "" "${matmul[@]}" "${tile[@]}" --arch sm_89 --json -o report.json
expect 0 "agrees" python3 - <<'P'
import json
r = json.load(open("report.json"))
assert r["kernel"] == "matmul" and r["target"] == "sm_89" and r["card"] == "RTX 4090", r
assert r["spill_instructions"] == 0 and r["shared_bytes"] <= r["shared_limit"] == 99 * 1024, r
loop = [p for p in r["parts"] if p["kind"] == "loop"]
assert len(loop) == 1 and loop[0]["first_line"] == 57, loop
code = loop[0]["code"][0]
assert code["total"] == sum(code["classes"].values()) == sum(code["names"].values()), code
assert code["classes"]["tensor"] == 32, code
clocks = [b["clocks"] for b in loop[0]["bounds"]]
assert clocks == sorted(clocks, reverse=True) and loop[0]["bounds"][0]["name"] == "tensor", clocks
assert set(r["milliseconds"]) == {"parse", "lower", "passes", "emit", "nvrtc"}, r["milliseconds"]
print("agrees")
P

# Other cards, other targets.
expect 0 "judged as RTX 6000 Ada" "${matmul[@]}" "${tile[@]}" --arch sm_89 --device "rtx 6000 ada"
expect 0 "1048576 operations / 1024" "${matmul[@]}" "${tile[@]}" --arch sm_89 --device "NVIDIA RTX 6000 Ada"
expect 1 "the cards of sm_89 are RTX 4090, RTX 6000 Ada, L40S" "${matmul[@]}" "${tile[@]}" --arch sm_89 --device "RTX 1"
expect 1 "A100 is a card of sm_80, not of sm_89" "${matmul[@]}" "${tile[@]}" --arch sm_89 --device A100
for target in sm_75 sm_80 sm_86 sm_90 sm_100 sm_120; do
  expect 0 "1048576 operations of dots" "${matmul[@]}" "${tile[@]}" --arch $target
done

# Registers: a bound that is kept, in the text as well; spills where it is too low, told with lines, or refused.
expect 0 "TW_KERNEL_REGISTERS(256, 128)" "${matmul[@]}" "${tile[@]}" --arch sm_89 --maxnreg 128 --emit cuda
registers() { "${matmul[@]}" "${tile[@]}" --arch sm_89 --json "$@" | python3 -c 'import json, sys; r = json.load(sys.stdin); print("registers", r["registers"], "spills", r["spill_instructions"] > 0, r["spills"][0]["path"].endswith("matmul/kernel.py") if r["spills"] else None)'; }
expect 0 "registers 64 spills True True" registers --maxnreg 64
expect 1 "[out-of-resources]" "${matmul[@]}" "${tile[@]}" --arch sm_89 --maxnreg 64 --max-spills 0 --emit cubin
expect 0 "spill instructions 0" "${matmul[@]}" "${tile[@]}" --arch sm_89 --max-spills 0
expect 2 "maxnreg" "${matmul[@]}" "${tile[@]}" --maxnreg 300
expect 0 "z_ptr f32[64]" "$BIN/tilewright" run "$K/vector_add/kernel.py" --grid 1 'x_ptr=zeros(f32,[64])' 'y_ptr=zeros(f32,[64])' \
  'z_ptr=empty(f32,[64])' n=64 --const BLOCK=64 --device interp --maxnreg 32

# Machine code as text needs NVIDIA's disassembler; without it the error names what was searched.
expect 1 "/nonexistent/nvdisasm (TILEWRIGHT_NVDISASM)" env TILEWRIGHT_NVDISASM=/nonexistent/nvdisasm "${matmul[@]}" "${tile[@]}" --emit sass
expect 1 "[no-disassembler]" env TILEWRIGHT_NVDISASM=/nonexistent/nvdisasm "${matmul[@]}" "${tile[@]}" --emit sass
printf '#!/bin/sh\nfor last; do :; done\nhead -c 4 "$last"; echo " disassembled"\n' >nvdisasm
chmod +x nvdisasm
expect 0 "ELF disassembled" env TILEWRIGHT_NVDISASM="$work/nvdisasm" "${matmul[@]}" "${tile[@]}" --emit sass
printf '#!/bin/sh\necho "cannot read it" >&2; exit 3\n' >nvdisasm
expect 1 "cannot read it" env TILEWRIGHT_NVDISASM="$work/nvdisasm" "${matmul[@]}" "${tile[@]}" --emit sass
finish
