#!/usr/bin/env python3
"""Scans, sorts, gathers and histograms under Triton and under Tilewright, beside a copy of as many bytes.

Needs a GPU, torch, triton, and the `tilewright` package on PYTHONPATH (runtime/bindings/python).
    python3 tests/triton/across.py                  compare the outputs with torch
    python3 tests/triton/across.py --time           and time both: the better of several warp counts each
    python3 tests/triton/across.py --time sort      only rows whose label has one of the words
Rates count the bytes a kernel has to move: each input read once, each output written once.
"""
import math
import sys

import torch

from compare import bench, both
import compare

WARPS = (1, 2, 4, 8, 16)


def check(label, result, reference, tolerance):
    good = torch.allclose(result.double(), reference.double(), rtol=0, atol=tolerance)
    compare.failures += not good
    print(f"{label:40s} {'ok' if good else 'FAILED'}", flush=True)


def copy_time(bytes_moved):
    source = torch.empty(bytes_moved // 2, dtype=torch.uint8, device="cuda")
    target = torch.empty_like(source)
    return bench(lambda: target.copy_(source))


class Case:
    """One kernel on one input: `launch(kernel, warps)` fills `result`."""

    def __init__(self, label, op, name, launch, result, reference, tolerance, bytes_moved, warps=WARPS):
        self.label, self.op, self.name, self.launch, self.result = label, op, name, launch, result
        self.reference, self.tolerance, self.bytes_moved, self.warps = reference, tolerance, bytes_moved, warps

    def run(self, timed):
        best = {}
        for side, kernel in both(self.op, self.name):
            try:
                self.result.zero_()
                self.launch(kernel, 4)
                check(f"{self.label} {side}", self.result, self.reference, self.tolerance)
                if timed:
                    best[side] = min(self.time(kernel, warps) for warps in self.warps)
            except Exception as error:  # a rival's limits are part of the picture
                print(f"{self.label} {side}: {type(error).__name__} {str(error)[:120]}", flush=True)
                compare.failures += side == "tilewright"
        if not timed:
            return None
        copy = copy_time(self.bytes_moved)
        rate = {side: self.bytes_moved / ms / 1e6 for side, (ms, _) in best.items()}
        text = "  ".join(f"{side} {rate[side]:7.0f} GB/s (w{best[side][1]})" for side in best)
        ratio = best["triton"][0] / best["tilewright"][0] if len(best) == 2 else math.nan
        ours = copy / best["tilewright"][0] if "tilewright" in best else math.nan
        return f"{self.label:34s} {text}  ratio {ratio:6.2f}  of copy {ours:5.2f}"

    def time(self, kernel, warps):
        try:
            return bench(lambda: self.launch(kernel, warps)), warps
        except Exception:
            return math.inf, warps


def scans():
    for rows, cols, dtype in ((65536, 1024, torch.float32), (16384, 4096, torch.float32), (65536, 1024, torch.bfloat16),
                              (4096, 16384, torch.float32)):
        x = torch.randn(rows, cols, device="cuda").to(dtype)
        y = torch.zeros_like(x)
        moved = 2 * x.numel() * x.element_size()
        yield Case(f"cumsum {rows}x{cols} {str(dtype)[6:]}", "scan", "cumsum",
                   lambda k, w, x=x, y=y, r=rows, c=cols: k[(r,)](x, y, c, c, BLOCK=c, num_warps=w), y,
                   torch.cumsum(x.double(), 1), 2e-2 if dtype == torch.float32 else 2.0, moved)
    rows, cols = 16384, 2048
    a, b = torch.rand(rows, cols, device="cuda"), torch.randn(rows, cols, device="cuda")
    y, reference = torch.zeros_like(a), torch.zeros_like(a)
    state = torch.zeros(rows, device="cuda", dtype=torch.float64)
    for i in range(cols):
        state = a[:, i].double() * state + b[:, i].double()
        reference[:, i] = state
    yield Case(f"linear_recurrence {rows}x{cols} f32", "scan", "linear_recurrence",
               lambda k, w: k[(rows,)](a, b, y, cols, cols, BLOCK=cols, num_warps=w), y, reference, 1e-3,
               3 * a.numel() * 4)


def sorts():
    for rows, cols, block, dtype in ((65536, 256, 4, torch.float32), (16384, 1024, 1, torch.float32),
                                     (262144, 64, 16, torch.float32), (16384, 1024, 1, torch.float16)):
        x = torch.randn(rows, cols, device="cuda").to(dtype)
        y = torch.zeros_like(x)
        yield Case(f"sort {rows}x{cols} {str(dtype)[6:]}", "sort", "sort_rows",
                   lambda k, w, x=x, y=y, r=rows, c=cols, b=block: k[(r // b,)](
                       x, y, r, ROWS=b, COLS=c, DESCENDING=False, num_warps=w),
                   y, torch.sort(x, 1).values, 0, 2 * x.numel() * x.element_size(), (1, 4, 8))
    for rows, cols, block, top in ((65536, 256, 4, 8), (65536, 128, 8, 2), (16384, 1024, 1, 32)):
        x = torch.randn(rows, cols, device="cuda")
        y = torch.zeros(rows, top, device="cuda")
        yield Case(f"topk {rows}x{cols} k={top} f32", "sort", "topk_rows",
                   lambda k, w, x=x, y=y, r=rows, c=cols, b=block, t=top: k[(r // b,)](
                       x, y, r, ROWS=b, COLS=c, K=t, num_warps=w),
                   y, torch.topk(x, top, 1).values, 0, (x.numel() + y.numel()) * 4, (1, 4, 8))


def lookups():
    for rows, cols, block, dtype in ((65536, 1024, 1, torch.float32), (262144, 128, 16, torch.float16)):
        x = torch.randn(rows, cols, device="cuda").to(dtype)
        index = torch.randint(cols, (rows, cols), device="cuda", dtype=torch.int32)
        y = torch.zeros_like(x)
        yield Case(f"gather {rows}x{cols} {str(dtype)[6:]}", "lookup", "gather_rows",
                   lambda k, w, x=x, i=index, y=y, r=rows, c=cols, b=block: k[(r // b,)](
                       x, i, y, r, ROWS=b, COLS=c, num_warps=w),
                   y, torch.gather(x, 1, index.long()), 0, x.numel() * (2 * x.element_size() + 4))
    for bins, dtype in ((256, torch.uint8), (2048, torch.int32)):
        x = torch.randint(bins, (1 << 27,), device="cuda", dtype=torch.int32).to(dtype)
        count = torch.zeros(bins, device="cuda", dtype=torch.int32)
        block = 16384
        yield Case(f"histogram {bins} bins {str(dtype)[6:]}", "lookup", "histogram",
                   lambda k, w, x=x, c=count, b=bins: k[(x.numel() // block,)](x, c, x.numel(), BINS=b, BLOCK=block, num_warps=w),
                   count, torch.bincount(x.int().flatten(), minlength=bins), 0, x.numel() * x.element_size(), (4, 8, 16))


if __name__ == "__main__":
    words = [word for word in sys.argv[1:] if not word.startswith("--")]
    lines = []
    for family in (scans, lookups, sorts):
        for case in family():
            if words and not any(word in case.label for word in words):
                continue
            line = case.run("--time" in sys.argv)
            if line:
                lines.append(line)
                print(line, flush=True)
            torch.cuda.empty_cache()
    print("\n".join(lines))
    sys.exit(compare.failures > 0)
