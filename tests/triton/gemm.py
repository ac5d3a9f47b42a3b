#!/usr/bin/env python3
"""Times kernels_lib/matmul on a GPU: Tilewright, Triton and cuBLAS, each with its best configuration.

Needs a GPU, torch, triton, and the `tilewright` package on PYTHONPATH (runtime/bindings/python).
    python3 tests/triton/gemm.py [--sizes 4096,8192] [--dtypes f16,bf16,f32,i8] [--layouts nt,nn] [--json FILE]

Both compilers get the same kernel text and the same list of configurations; each is first timed alone, quickly, to find
its best one, then the winners, cuBLAS and the tensor-core peak run in turn, round after round, on random normals. Triton
is kept to mma.sync (DISABLE_MMA_V3=1, set before it compiles) unless --wgmma. The peak is a register-only loop of mma
instructions of the same type (tests/triton/peak.py): what the multiplier reaches when nothing is moved. Large problems run
at the card's power limit, so only ratios within a run mean something.
"""
import argparse
import json
import math
import multiprocessing
import os
import pathlib
import statistics
import sys
from concurrent.futures import ThreadPoolExecutor

KERNEL = pathlib.Path(__file__).resolve().parents[2] / "kernels_lib" / "matmul" / "kernel.py"
# BLOCK_M, BLOCK_N, bytes of BLOCK_K, warps, stages.
CONFIGS = [
    (128, 128, 64, 4, 3), (128, 128, 64, 4, 4), (128, 128, 64, 4, 5), (128, 128, 128, 4, 3), (128, 128, 64, 8, 4),
    (128, 128, 128, 8, 3), (128, 256, 64, 8, 3), (128, 256, 64, 8, 4), (128, 256, 128, 8, 3), (128, 256, 128, 8, 4),
    (256, 128, 64, 8, 3), (256, 128, 64, 8, 4), (256, 128, 128, 8, 3), (256, 128, 128, 8, 4), (64, 256, 64, 4, 4),
    (64, 128, 64, 4, 4),
]
BYTES = {"f16": 2, "bf16": 2, "f32": 4, "i8": 1}
GROUP_M = 8


def options(kernel, dtype, config):
    m, n, k_bytes, warps, stages = config
    import tilewright

    acc = "int32" if dtype == "i8" else "float32"
    if isinstance(kernel, tilewright.Kernel):
        acc = tilewright.dtype(acc)
    else:
        import triton.language as tl

        acc = getattr(tl, acc)
    return dict(BLOCK_M=m, BLOCK_N=n, BLOCK_K=k_bytes // BYTES[dtype], GROUP_M=GROUP_M, ACC=acc, num_warps=warps,
                num_stages=stages)


def triton_kernel():
    import importlib.util

    spec = importlib.util.spec_from_file_location("matmul_kernel", KERNEL)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.matmul.fn


def operands(size, dtype, layout):
    import torch

    torch.manual_seed(0)
    kind = {"f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32, "i8": torch.int8}[dtype]
    out = {"i8": torch.int32}.get(dtype, kind)

    def matrix():
        if dtype == "i8":
            return torch.randint(-128, 128, (size, size), device="cuda", dtype=torch.int8)
        return torch.randn(size, size, device="cuda").to(kind)

    a, b = matrix(), matrix()
    return a, (b.t() if layout == "nt" else b), torch.empty(size, size, device="cuda", dtype=out)


def call(kernel, dtype, config, a, b, c):
    size = a.shape[0]
    grid = (math.ceil(size / config[0]) * math.ceil(size / config[1]),)
    kernel[grid](a, b, c, size, size, size, *a.stride(), *b.stride(), *c.stride(), **options(kernel, dtype, config))


def compile_for_triton(job):
    """In a process of its own, so that Triton's compiles run side by side; the result is in its disk cache."""
    size, dtype, layout, config = job
    try:
        call(triton_kernel(), dtype, config, *operands(size, dtype, layout))
    except Exception:  # a configuration that does not fit is left out later
        pass


def milliseconds(launch, repeats):
    import torch

    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    launch()
    start.record()
    for _ in range(repeats):
        launch()
    end.record()
    end.synchronize()
    return start.elapsed_time(end) / repeats


def matches(result, a, b, dtype):
    import torch

    rows = slice(-300, None)
    if dtype == "i8":
        return torch.equal(result[rows].double(), (a[rows].double() @ b.double()))
    reference = a[rows].double() @ b.double()
    error = ((result[rows].double() - reference).norm() / reference.norm()).item()
    return error <= {"f16": 2**-11, "bf16": 2**-8, "f32": 2**-10}[dtype]


def best(kernel, dtype, configs, a, b, c):
    """(config, milliseconds) of the fastest right configuration, and all timings."""
    timings = []
    for config in configs:
        try:
            c.zero_()
            call(kernel, dtype, config, a, b, c)
            if not matches(c, a, b, dtype):
                timings.append((math.inf, config, "WRONG"))
                continue
            timings.append((milliseconds(lambda: call(kernel, dtype, config, a, b, c), 3), config, ""))
        except Exception as error:
            timings.append((math.inf, config, " ".join(str(error).split())[-160:]))
    return min(timings), timings


def blas(a, b, dtype):
    import torch

    if dtype == "i8":
        return lambda: torch._int_mm(a, b)
    return lambda: torch.mm(a, b)


def measure(size, dtype, layout, peak):
    import torch
    import tilewright

    torch.backends.cuda.matmul.allow_tf32 = True
    a, b, c = operands(size, dtype, layout)
    ours = tilewright.compile(KERNEL, "matmul")
    with ThreadPoolExecutor(16) as pool:  # compiles outside Python, so threads run side by side
        def prepare(config):
            try:
                call(ours, dtype, config, a, b, c)
            except Exception:
                pass
        list(pool.map(prepare, CONFIGS))
    sides, detail = {}, {}
    for name, kernel in (("tilewright", ours), ("triton", triton_kernel())):
        (time, config, _), detail[name] = best(kernel, dtype, CONFIGS, a, b, c)
        if time < math.inf:
            sides[name] = (config, lambda kernel=kernel, config=config: call(kernel, dtype, config, a, b, c))
    sides["cublas"] = ("", blas(a, b, dtype))
    work, rounds = 2 * size**3, {name: [] for name in sides}
    rounds["peak"] = []
    for _ in range(7):
        for name, (_, launch) in sides.items():
            rounds[name].append(work / milliseconds(launch, 10 if size <= 4096 else 3) / 1e9)
        rounds["peak"].append(peak(dtype))
    rate = {name: statistics.median(values) for name, values in rounds.items()}
    row = {"size": size, "dtype": dtype, "layout": layout, "rate": rate,
           "config": {name: side[0] for name, side in sides.items()},
           "all": {name: [(t, c_, e) for t, c_, e in rows] for name, rows in detail.items()}}
    ours_rate = rate.get("tilewright", 0.0)
    print(f"{size:5d} {dtype:4s} {layout} tilewright {ours_rate:7.1f} {sides.get('tilewright', ('-',))[0]}  triton "
          f"{rate.get('triton', 0.0):7.1f} {sides.get('triton', ('-',))[0]}  cublas {rate['cublas']:7.1f}  peak {rate['peak']:7.1f}  "
          f"x triton {ours_rate / rate.get('triton', math.inf):4.2f}  of peak {ours_rate / rate['peak']:4.2f}", flush=True)
    return row


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sizes", default="4096,8192")
    parser.add_argument("--dtypes", default="f16,bf16,f32,i8")
    parser.add_argument("--layouts", default="nt,nn")
    parser.add_argument("--json")
    parser.add_argument("--wgmma", action="store_true", help="let Triton use wgmma")
    args = parser.parse_args()
    if not args.wgmma:
        os.environ["DISABLE_MMA_V3"] = "1"
    sizes = [int(size) for size in args.sizes.split(",")]
    jobs = [(min(sizes), dtype, layout, config) for dtype in args.dtypes.split(",") for layout in args.layouts.split(",")
            for config in CONFIGS]
    with multiprocessing.get_context("spawn").Pool(14) as pool:
        pool.map(compile_for_triton, jobs, chunksize=4)
    from peak import Peak

    peak = Peak()
    rows = [measure(size, dtype, layout, peak) for size in sizes for dtype in args.dtypes.split(",")
            for layout in args.layouts.split(",")]
    if args.json:
        pathlib.Path(args.json).write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    sys.exit(main())
