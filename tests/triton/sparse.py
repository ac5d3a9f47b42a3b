#!/usr/bin/env python3
"""Times kernels_lib/matmul_sparse on a GPU beside the dense kernels_lib/matmul of the same size.

Needs a GPU, torch, and the `tilewright` package on PYTHONPATH (runtime/bindings/python).
    python3 tests/triton/sparse.py [--sizes 4096,8192] [--dtypes f16,bf16,f32,i8] [--layouts nt,nn]

Rates count the products of the dense matrix, so that twice the dense rate is the most that sparsity can give. Both
kernels run their best configuration, in turn; "library" is torch's own semi-structured product where it has one.
"""
import argparse
import math
import pathlib
import statistics
import sys
from concurrent.futures import ThreadPoolExecutor

import torch

import tilewright

ROOT = pathlib.Path(__file__).resolve().parents[2] / "kernels_lib"
KINDS = {"f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32, "i8": torch.int8}
BYTES = {"f16": 2, "bf16": 2, "f32": 4, "i8": 1}
# BLOCK_M, BLOCK_N, bytes of BLOCK_K in B, warps, stages.
SPARSE = [(128, 128, 128, 4, 3), (128, 128, 128, 4, 4), (128, 256, 128, 8, 3), (128, 256, 128, 8, 4), (256, 128, 128, 8, 3),
          (256, 128, 128, 8, 4), (256, 128, 256, 8, 2), (256, 128, 64, 8, 4), (128, 256, 64, 8, 4), (128, 128, 64, 4, 5)]
DENSE = [(128, 128, 64, 4, 4), (128, 256, 64, 8, 4), (128, 256, 128, 8, 3), (256, 128, 64, 8, 4), (256, 128, 128, 8, 3)]


def sparse_matrix(m, k, dtype):
    """(dense, kept values, metadata [K / columns a word, M])."""
    group, keep = (2, 1) if dtype == "f32" else (4, 2)
    values = torch.randint(-100, 100, (m, k), device="cuda") if dtype == "i8" else torch.randn(m, k, device="cuda")
    values = values.to(KINDS[dtype])
    order = torch.rand(m, k // group, group, device="cuda").argsort(-1)
    places = order[..., :keep].sort(-1).values
    kept = values.view(m, k // group, group).gather(-1, places)
    dense = torch.zeros(m, k // group, group, device="cuda", dtype=values.dtype).scatter_(-1, places, kept)
    nibbles = 4 + 10 * places[..., 0] if dtype == "f32" else places[..., 0] | places[..., 1] << 2
    each = 8 if dtype == "i8" else 4
    shifts = 4 * torch.arange(each, device="cuda")
    words = (nibbles.view(m, -1, each) << shifts).sum(-1)
    words = words.to(torch.int64).to(torch.int32 if dtype == "i8" else torch.int16)
    return dense.view(m, k), kept.reshape(m, k // 2), words.t().contiguous()


def milliseconds(launch, repeats):
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    launch()
    start.record()
    for _ in range(repeats):
        launch()
    end.record()
    end.synchronize()
    return start.elapsed_time(end) / repeats


def best(launch, configs, c, reference):
    """(milliseconds, config) of the fastest right configuration; (inf, reason) without one."""
    def prepare(config):
        try:
            launch(config)
        except Exception:
            pass
    with ThreadPoolExecutor(16) as pool:  # compiles outside Python, so threads run side by side
        list(pool.map(prepare, configs))
    timings = []
    for config in configs:
        try:
            c.zero_()
            launch(config)
            error = ((c[-300:].double() - reference).norm() / reference.norm()).item()
            right = error <= {torch.float16: 2**-11, torch.bfloat16: 2**-8, torch.float32: 2**-10, torch.int32: 0}[c.dtype]
            timings.append((milliseconds(lambda: launch(config), 3), config) if right else (math.inf, "WRONG"))
        except Exception as failure:
            timings.append((math.inf, " ".join(str(failure).split())[-120:]))
    return min(timings, key=lambda timing: timing[0])


def measure(size, dtype, layout):
    dense, kept, meta = sparse_matrix(size, size, dtype)
    b = torch.randint(-100, 100, (size, size), device="cuda").to(KINDS[dtype]) if dtype == "i8" else torch.randn(
        size, size, device="cuda").to(KINDS[dtype])
    if layout == "nt":
        b = b.t()
    c = torch.empty(size, size, device="cuda", dtype=torch.int32 if dtype == "i8" else KINDS[dtype])
    reference = dense[-300:].double() @ b.double()
    acc = tilewright.dtype("int32" if dtype == "i8" else "float32")
    kernels = {"sparse": tilewright.compile(ROOT / "matmul_sparse" / "kernel.py", "matmul_sparse"),
               "dense": tilewright.compile(ROOT / "matmul" / "kernel.py", "matmul")}

    def run(name, config):
        m, n, k_bytes, warps, stages = config
        a = (kept, meta, b, c) if name == "sparse" else (dense, b, c)
        strides = [*kept.stride(), 1, meta.stride(0)] if name == "sparse" else dense.stride()
        grid = (math.ceil(size / m) * math.ceil(size / n),)
        kernels[name][grid](*a, size, size, size, *strides, *b.stride(), *c.stride(), BLOCK_M=m, BLOCK_N=n,
                            BLOCK_K=k_bytes // BYTES[dtype], GROUP_M=8, ACC=acc, num_warps=warps, num_stages=stages)

    sides, names = {}, {}
    for name, configs in (("sparse", SPARSE), ("dense", DENSE)):
        time, config = best(lambda config: run(name, config), configs, c, reference)
        names[name] = config
        if time < math.inf:
            sides[name] = lambda name=name, config=config: run(name, config)
    try:
        semi = torch.sparse.to_sparse_semi_structured(dense)
        torch.mm(semi, b)
        sides["library"] = lambda: torch.mm(semi, b)
    except Exception as failure:
        names["library"] = " ".join(str(failure).split())[:60]
    rounds = {name: [] for name in sides}
    for _ in range(5):
        for name, launch in sides.items():
            rounds[name].append(2 * size**3 / milliseconds(launch, 10 if size <= 4096 else 3) / 1e9)
    rate = {name: statistics.median(values) for name, values in rounds.items()}
    shown = "  ".join(f"{name} {rate.get(name, 0.0):7.1f} {names.get(name, '')}" for name in ("sparse", "dense", "library"))
    print(f"{size:5d} {dtype:4s} {layout} {shown}  x dense {rate.get('sparse', 0.0) / rate.get('dense', math.inf):4.2f}", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sizes", default="4096,8192")
    parser.add_argument("--dtypes", default="f16,bf16,f32,i8")
    parser.add_argument("--layouts", default="nt,nn")
    args = parser.parse_args()
    for size in args.sizes.split(","):
        for dtype in args.dtypes.split(","):
            for layout in args.layouts.split(","):
                measure(int(size), dtype, layout)


if __name__ == "__main__":
    sys.exit(main())
