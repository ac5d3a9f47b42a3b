#!/usr/bin/env python3
"""Times products whose tiles are few: 4-bit and 8-bit weights with 1 to 32 rows, split-K and stream-K with a long K.

Needs a GPU, torch, and the `tilewright` package on PYTHONPATH (runtime/bindings/python).
    python3 tests/triton/skinny.py [int4] [int8] [split] [--all]

Weights rotate through buffers of more than twice the L2 cache, so that they come from memory; short kernels are timed in
CUDA graphs. GB/s counts each operand once; "of copy" is beside a device-to-device copy in the same run (read + write).
"""
import itertools
import math
import pathlib
import statistics
import sys

import torch

import tilewright

ROOT = pathlib.Path(__file__).resolve().parents[2] / "kernels_lib"
ROTATED_BYTES = 256 << 20
VERBOSE = "--all" in sys.argv  # every config, not the best alone


def graph_ms(launches, rounds=9):
    """Median milliseconds of one launch; the list is run as one graph."""
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for launch in launches:
            launch()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        for launch in launches:
            launch()
    times = []
    for _ in range(rounds):
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        graph.replay()
        end.record()
        end.synchronize()
        times.append(start.elapsed_time(end) / len(launches))
    return statistics.median(times)


def current():
    """The stream to launch on, so that a graph being captured sees it."""
    return torch.cuda.current_stream().cuda_stream


def copy_rate():
    x = torch.empty(1 << 28, device="cuda", dtype=torch.float32)
    y = torch.empty_like(x)
    return 8 * x.numel() / graph_ms([lambda: torch.mul(x, 1.0, out=y)] * 4) / 1e6


def pack(q, blocked):
    """q[K, N] in 0…15 -> int16[K // 256, N, 64] or int16[N, K // 4], as kernels_lib/matmul_int4/kernel.py says."""
    k, n = q.shape
    quarters = q.view(k // 256, 4, 64, n).to(torch.int32)
    words = sum(quarters[:, s] << (4 * s) for s in range(4)).to(torch.int16)
    return words.transpose(1, 2).contiguous() if blocked else words.permute(2, 0, 1).contiguous()


# BLOCK_N, warps, stages, programs an SM of the persistent kernel (0: the other one), splits of the other one; maxnreg where it is bound.
INT4_CONFIGS = [(128, 4, 4, 2, 0, 0), (64, 4, 3, 4, 0, 0), (64, 2, 4, 4, 0, 0), (256, 8, 4, 1, 0, 0), (128, 8, 4, 2, 0, 0), (128, 8, 4, 2, 0, 128),
                (128, 4, 3, 3, 0, 128), (64, 4, 4, 0, 4, 0), (64, 4, 4, 0, 8, 0), (128, 8, 3, 0, 4, 0)]


def tile_rows(m):
    """What BLOCK_M to try: the least that holds m rows, and 16, whose copies are wider."""
    return (8, 16) if m <= 8 else (16,) if m <= 16 else (32,)


def int4(copy):
    file = ROOT / "matmul_int4" / "kernel.py"
    kernel, persistent = (tilewright.compile(file, name) for name in ("matmul_int4", "matmul_int4_persistent"))
    processors = torch.cuda.get_device_properties(0).multi_processor_count
    for n, k in ((14336, 4096), (4096, 14336), (28672, 8192)):
        q = torch.randint(0, 16, (k, n), device="cuda", dtype=torch.uint8)
        scale = (torch.rand(k // 128, n, device="cuda") * 0.1).half()
        weights = ((q.half() - 8).view(k // 128, 128, n) * scale[:, None]).view(k, n)
        copies = max(2, math.ceil(ROTATED_BYTES * 4 / (k * n * 2)))
        halves = [weights.clone() for _ in range(2 if k * n > 1 << 26 else 3)]
        layouts, layouts_and_configs = {}, [(True, c) for c in INT4_CONFIGS] + [(False, c) for c in INT4_CONFIGS[:2]]
        for blocked in (True, False):
            packed = pack(q, blocked)
            layouts[blocked] = [packed.clone() for _ in range(copies)]
        for m in (1, 8, 16, 32):
            a = torch.randn(m, k, device="cuda").half()
            out = torch.zeros(m, n, device="cuda", dtype=torch.float32)
            reference = a.double() @ weights.double()
            dense = torch.empty(m, n, device="cuda", dtype=torch.float16)
            blas = graph_ms([lambda w=w: torch.mm(a, w, out=dense) for w in halves])
            results = []
            for rows, (blocked, (columns, warps, stages, programs, splits, registers)) in itertools.product(tile_rows(m), layouts_and_configs):
                strides = (n * 64, 64) if blocked else (64, k // 4)
                tiles = math.ceil(n / columns)

                def launch(w):
                    options = dict(BLOCK_M=rows, BLOCK_N=columns, num_warps=warps, num_stages=stages, maxnreg=registers, stream=current())
                    operands = (a, w, scale, out, m, n, k, k, *strides, n)
                    if programs:
                        persistent[(min(programs * processors, tiles * k // 256), math.ceil(m / rows))](*operands, **options)
                    else:
                        kernel[(tiles, splits, math.ceil(m / rows))](*operands, ATOMIC=True, **options)
                name = f"{'blocked' if blocked else 'rows'} {rows}x{columns}x{warps}w s{stages} p{programs} k{splits} r{registers}"
                try:
                    out.zero_()
                    launch(layouts[blocked][0])
                    error = ((out.double() - reference).norm() / reference.norm()).item()
                    if not error < 3e-3:
                        print(f"int4 {m}x{n}x{k} {name}: WRONG, error {error:.1e}")
                        continue
                    results.append((graph_ms([lambda w=w: launch(w) for w in layouts[blocked]], rounds=5), name))
                except tilewright.TilewrightError as error:
                    print(name, str(error).splitlines()[0])
            moved = k * n // 2 + scale.nbytes + a.nbytes + out.nbytes
            for time, name in sorted(results)[:20 if VERBOSE else 1]:
                rate = moved / time / 1e6
                print(f"int4 {m:2d}x{n}x{k} {name:33s} {time * 1000:7.1f} us {rate:6.0f} GB/s, of copy {rate / copy:4.2f}, "
                      f"f16 by cuBLAS {blas * 1000:6.1f} us, {blas / time:4.2f}x", flush=True)


def int8(copy):
    kernel = tilewright.compile(ROOT / "matmul_int8" / "kernel.py", "matmul_int8_persistent")
    processors = torch.cuda.get_device_properties(0).multi_processor_count
    for dtype, (n, k) in itertools.product((torch.float16, torch.bfloat16), ((14336, 4096), (28672, 8192))):
        q = torch.randint(-128, 128, (n, k), device="cuda", dtype=torch.int8)
        scale = torch.rand(n, device="cuda") * 0.1
        rotated = [q.clone() for _ in range(max(2, math.ceil(ROTATED_BYTES / q.nbytes)))]
        for m in (1, 16, 32):
            a = torch.randn(m, k, device="cuda").to(dtype)
            out = torch.zeros(m, n, device="cuda")
            reference = a.double() @ q.double().t() * scale.double()
            results = []
            for rows, (columns, depth, warps, stages, programs) in itertools.product(
                    tile_rows(m)[-1:], ((128, 128, 8, 4, 2), (128, 128, 4, 4, 2), (64, 128, 4, 4, 4), (64, 256, 4, 3, 3))):
                def launch(w):
                    kernel[(programs * processors, math.ceil(m / rows))](a, w, scale, out, m, n, k, k, k, BLOCK_M=rows, BLOCK_N=columns, BLOCK_K=depth,
                                                                         num_warps=warps, num_stages=stages, stream=current())
                out.zero_()
                launch(q)
                error = ((out.double() - reference).norm() / reference.norm()).item()
                name = f"{rows}x{columns}x{depth} {warps}w s{stages} p{programs}"
                if not error < 1e-5:
                    print(f"int8 {m}x{n}x{k} {dtype} {name}: WRONG, error {error:.1e}")
                    continue
                results.append((graph_ms([lambda w=w: launch(w) for w in rotated], rounds=5), name))
            moved = q.nbytes + scale.nbytes + a.nbytes + out.nbytes
            for time, name in sorted(results)[:len(results) if VERBOSE else 1]:
                print(f"int8 {m:2d}x{n}x{k} {str(dtype)[6:]:8s} {name:22s} {time * 1000:7.1f} us {moved / time / 1e6:6.0f} GB/s, "
                      f"of copy {moved / time / 1e6 / copy:4.2f}", flush=True)


def split():
    file = ROOT / "matmul_split" / "kernel.py"
    split_k, reduce, stream_k = (tilewright.compile(file, name) for name in ("matmul_split_k", "matmul_reduce", "matmul_stream_k"))
    programs = torch.cuda.get_device_properties(0).multi_processor_count
    for m, n, k in ((512, 512, 65536), (64, 4096, 14336), (1024, 1024, 1024), (4096, 4096, 4096)):
        a = torch.randn(m, k, device="cuda").bfloat16()
        b = torch.randn(n, k, device="cuda").bfloat16().t()
        c = torch.empty(m, n, device="cuda", dtype=torch.bfloat16)
        reference = a.double() @ b.double()
        blas = graph_ms([lambda: torch.mm(a, b, out=c)] * 5)
        results = []
        for block_m, block_n, block_k, warps, stages in ((64, 64, 64, 4, 4), (64, 128, 64, 4, 4), (128, 128, 64, 4, 3), (128, 256, 64, 8, 3)):
            tiles = math.ceil(m / block_m) * math.ceil(n / block_n)
            blocks = dict(BLOCK_M=block_m, BLOCK_N=block_n, BLOCK_K=block_k, GROUP_M=8, num_warps=warps, num_stages=stages)
            operands = (m, n, k, *a.stride(), *b.stride())

            def by_splits(splits):
                work = torch.empty(splits, m, n, device="cuda")

                def launch():
                    split_k[(tiles, splits)](a, b, work, *operands, ATOMIC=False, stream=current(), **blocks)
                    reduce[(math.ceil(m * n / 1024),)](work, c, m * n, splits, BLOCK=1024, stream=current())
                return launch

            def by_stream(count):
                work, flags = torch.empty(count, block_m, block_n, device="cuda"), torch.zeros(count, device="cuda", dtype=torch.int32)

                def launch():
                    flags.zero_()
                    stream_k[(count,)](a, b, c, work, flags, *operands, *c.stride(), stream=current(), **blocks)
                return launch

            candidates = {f"split {s}": by_splits(s) for s in (2, 4, 8, 16, 32) if tiles * s <= 8 * programs and s * block_k <= k}
            candidates.update({f"stream {f}": by_stream(f * programs) for f in (1, 2)})
            for name, launch in candidates.items():
                c.fill_(float("nan"))
                launch()
                error = ((c.double() - reference).norm() / reference.norm()).item()
                if not error < 4e-3:
                    print(f"{m}x{n}x{k} {name}: WRONG, error {error:.1e}")
                    continue
                results.append((graph_ms([launch] * 5), name, (block_m, block_n, block_k, warps, stages)))
        for kind in ("split", "stream"):
            time, name, config = min(r for r in results if r[1].startswith(kind))
            print(f"{m}x{n}x{k} bf16 {name:9s} {config} {time * 1000:7.1f} us {2 * m * n * k / time / 1e9:6.1f} TFLOP/s, "
                  f"cublas {blas * 1000:7.1f} us, ratio {blas / time:4.2f}", flush=True)


def main():
    torch.manual_seed(0)
    which = [word for word in sys.argv[1:] if word != "--all"] or ["int4", "int8", "split"]
    copy = copy_rate()
    print(f"copy {copy:.0f} GB/s")
    if "int4" in which:
        int4(copy)
    if "int8" in which:
        int8(copy)
    if "split" in which:
        split()


if __name__ == "__main__":
    main()
