#!/usr/bin/env python3
"""Runs each kernel file unmodified under Triton and under Tilewright and compares the outputs.

Needs a GPU, torch, triton, and the `tilewright` package on PYTHONPATH (runtime/bindings/python).
    python3 tests/triton/compare.py           compare
    python3 tests/triton/compare.py --time    and time both on larger problems
Both sides are compared with each other within the sum of both sides' bounds (dsl/LANGUAGE.md), and each
with a float64 reference, in relative Frobenius norm. Exits 1 if any row is out of bounds.
"""
import importlib.util
import math
import pathlib
import sys

import torch

import tilewright

ROOT = pathlib.Path(__file__).resolve().parents[2] / "kernels_lib"
# Relative precision of one rounding, and room for reordered f32 sums and approximate functions.
EPS = {torch.float16: 2**-11, torch.bfloat16: 2**-8, torch.float32: 2**-20}
TF32 = 2**-10
failures = 0


def triton_kernel(op, name):
    spec = importlib.util.spec_from_file_location(f"kernels_{op}", ROOT / op / "kernel.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    kernel = getattr(module, name)
    return getattr(kernel, "fn", kernel) if type(kernel).__name__ == "Autotuner" else kernel


class OnCurrentStream:
    """A Tilewright kernel that launches where torch does, so that a graph being captured sees it."""

    def __init__(self, kernel):
        self.kernel = kernel

    def __getitem__(self, grid):
        return lambda *args, **kwargs: self.kernel[grid](*args, stream=torch.cuda.current_stream().cuda_stream, **kwargs)


def both(op, name):
    ours = OnCurrentStream(tilewright.compile(ROOT / op / "kernel.py", name))
    return (("triton", triton_kernel(op, name)), ("tilewright", ours))


def bench(launch):
    """Milliseconds of a launch, median, the L2 cache emptied before each. As a graph: the time that Python takes for a
    launch, up to 100 us, would show in the shorter kernels."""
    from triton.testing import do_bench

    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        launch()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        launch()
    return do_bench(graph.replay, warmup=10, rep=40, return_mode="median")


def relative(a, b):
    a, b = a.double(), b.double()
    return ((a - b).norm() / b.norm().clamp_min(1e-30)).item()


def row(label, results, reference, bound):
    """results: {"triton": tensor, "tilewright": tensor}; the reference in float64."""
    global failures
    errors = {side: relative(out, reference) for side, out in results.items()}
    apart = relative(results["tilewright"], results["triton"])
    ok = all(math.isfinite(e) and e <= bound for e in errors.values()) and apart <= 2 * bound
    failures += not ok
    print(f"{label:48s} {errors['triton']:.2e} {errors['tilewright']:.2e} {apart:.2e} {bound:.1e} {'ok' if ok else 'FAILED'}",
          flush=True)


def randn(*shape, dtype=torch.float32):
    return torch.randn(*shape, device="cuda", dtype=torch.float32).to(dtype)


def vector_add(n, dtype):
    x, y = randn(n, dtype=dtype), randn(n, dtype=dtype)
    out = {}
    for side, kernel in both("vector_add", "vector_add"):
        z = torch.full_like(x, float("nan"))
        kernel[(math.ceil(n / 1024),)](x, y, z, n, BLOCK=1024)
        out[side] = z
    row(f"vector_add {n} {dtype}", out, x.double() + y.double(), EPS[dtype])


def softmax(rows, cols, dtype, warps):
    x = randn(rows, cols, dtype=dtype)
    out = {}
    for side, kernel in both("softmax", "softmax"):
        y = torch.full_like(x, float("nan"))
        kernel[(rows,)](x, y, x.stride(0), y.stride(0), cols, BLOCK=1 << (cols - 1).bit_length(), num_warps=warps)
        out[side] = y
    row(f"softmax {rows}x{cols} {dtype}", out, torch.softmax(x.double(), 1), 2 * EPS[dtype])


def matmul(m, n, k, dtype, warps, act=""):
    a, b = randn(m, k, dtype=dtype), randn(k, n, dtype=dtype)
    out = {}
    for side, kernel in both("matmul", "matmul"):
        c = torch.full((m, n), float("nan"), device="cuda", dtype=dtype)
        kernel[(math.ceil(m / 64) * math.ceil(n / 64),)](
            a, b, c, m, n, k, a.stride(0), a.stride(1), b.stride(0), b.stride(1), c.stride(0), c.stride(1),
            BLOCK_M=64, BLOCK_N=64, BLOCK_K=32, GROUP_M=8, ACTIVATION=act, num_warps=warps)
        out[side] = c
    reference = a.double() @ b.double()
    if act:
        reference = torch.where(reference >= 0, reference, 0.01 * reference)
    row(f"matmul {m}x{n}x{k} {dtype} {act}", out, reference, TF32 if dtype == torch.float32 else EPS[dtype])


def layer_norm(rows, cols, dtype):
    x, w, b, dy = randn(rows, cols, dtype=dtype), randn(cols, dtype=dtype), randn(cols, dtype=dtype), randn(rows, cols, dtype=dtype)
    xd = x.double().requires_grad_()
    wd, bd = w.double().requires_grad_(), b.double().requires_grad_()
    y_ref = torch.nn.functional.layer_norm(xd, (cols,), wd, bd, 1e-5)
    y_ref.backward(dy.double())
    outs = {key: {} for key in ("y", "dx", "dw", "db")}
    block, groups = 1 << (cols - 1).bit_length(), 16
    for side, forward in both("layer_norm", "layer_norm_forward"):
        pick = dict(both("layer_norm", "layer_norm_backward_dx"))[side], dict(both("layer_norm", "layer_norm_backward_dwdb"))[side]
        y, dx = torch.full_like(x, float("nan")), torch.full_like(x, float("nan"))
        dw, db = torch.full_like(w, float("nan")), torch.full_like(b, float("nan"))
        mean, rstd = torch.empty(rows, device="cuda"), torch.empty(rows, device="cuda")
        forward[(rows,)](x, y, w, b, mean, rstd, x.stride(0), cols, 1e-5, BLOCK=256)
        lock = torch.zeros(2 * groups, device="cuda", dtype=torch.int32)
        dw_part, db_part = torch.zeros(groups, cols, device="cuda"), torch.zeros(groups, cols, device="cuda")
        pick[0][(rows,)](dx, dy, dw_part, db_part, x, w, mean, rstd, lock, x.stride(0), cols, GROUPS=groups, BLOCK=block)
        pick[1][(math.ceil(cols / 64),)](dw_part, db_part, dw, db, groups, cols, BLOCK_M=16, BLOCK_N=64)
        for key, value in (("y", y), ("dx", dx), ("dw", dw), ("db", db)):
            outs[key][side] = value
    for key, reference in (("y", y_ref), ("dx", xd.grad), ("dw", wd.grad), ("db", bd.grad)):
        row(f"layer_norm {key} {rows}x{cols} {dtype}", outs[key], reference.detach(), 4 * EPS[dtype])


def dropout(n, dtype):
    x = randn(n, dtype=dtype)
    out = {}
    for side, kernel in both("dropout", "dropout"):
        y = torch.full_like(x, float("nan"))
        kernel[(math.ceil(n / 1024),)](x, y, n, 0.25, 123, BLOCK=1024)
        out[side] = y
    kept = out["triton"] != 0
    row(f"dropout {n} {dtype} (same mask)", {s: (o != 0).double() for s, o in out.items()}, kept.double(), 0.0)
    row(f"dropout {n} {dtype}", out, torch.where(kept, x.double() / 0.75, 0.0), 2 * EPS[dtype])


def attention(batch, heads, length, dim, dtype, causal, warps):
    q, k, v = (randn(batch, heads, length, dim, dtype=dtype) for _ in range(3))
    out = {}
    for side, kernel in both("attention", "attention"):
        o = torch.full_like(q, float("nan"))
        lse = torch.empty(batch * heads, length, device="cuda")
        kernel[(math.ceil(length / 64), batch * heads)](
            q, k, v, o, lse, *q.stride()[:3], *k.stride()[:3], *v.stride()[:3], *o.stride()[:3], heads, length,
            dim**-0.5, BLOCK_M=64, BLOCK_N=32, HEAD_DIM=dim, CAUSAL=causal, num_warps=warps)
        out[side] = o
    scores = q.double() @ k.double().transpose(-1, -2) * dim**-0.5
    if causal:
        scores = scores.masked_fill(torch.ones(length, length, device="cuda").triu(1).bool(), -math.inf)
    row(f"attention {length}x{dim} {dtype} causal={causal}", out, torch.softmax(scores, -1) @ v.double(),
        4 * TF32 if dtype == torch.float32 else 2 * EPS[dtype])


def conv2d(batch, size, channels, filters, stride, pad, dtype):
    x, w, bias = randn(batch, size, size, channels, dtype=dtype), randn(filters, 3, 3, channels, dtype=dtype), randn(filters, dtype=dtype)
    out_size = (size + 2 * pad - 3) // stride + 1
    out = {}
    for side, kernel in both("conv2d", "conv2d"):
        y = torch.full((batch, out_size, out_size, filters), float("nan"), device="cuda", dtype=dtype)
        kernel[(math.ceil(batch * out_size**2 / 64), math.ceil(filters / 32))](
            x, w, bias, y, batch, size, size, channels, filters, out_size, out_size, stride, stride, pad, pad, 1, 1,
            R=3, S=3, BLOCK_M=64, BLOCK_N=32, BLOCK_K=32)
        out[side] = y
    reference = torch.nn.functional.conv2d(x.double().permute(0, 3, 1, 2), w.double().permute(0, 3, 1, 2), bias.double(), stride, pad)
    row(f"conv2d {batch}x{size}x{size}x{channels}->{filters} {dtype}", out, reference.permute(0, 2, 3, 1),
        TF32 if dtype == torch.float32 else EPS[dtype])


def timed(label, op, name, launch, work, unit):
    """One row: median milliseconds of both sides, interleaved rounds, and the rate of `work` per launch."""
    sides = both(op, name)
    times = {side: [] for side, _ in sides}
    for _ in range(5):
        for side, kernel in sides:
            times[side].append(bench(lambda k=kernel: launch(k)))
    ours, theirs = (sorted(times[side])[2] for side in ("tilewright", "triton"))
    print(f"{label:40s} triton {theirs:8.3f} ms {work / theirs / 1e9:8.1f} {unit}   tilewright {ours:8.3f} ms "
          f"{work / ours / 1e9:8.1f} {unit}   ratio {theirs / ours:5.2f}", flush=True)


def time_matmul(size, block_m, block_n, block_k, warps, stages):
    a, b, c = (randn(size, size, dtype=torch.float16) for _ in range(3))
    grid = (math.ceil(size / block_m) * math.ceil(size / block_n),)
    timed(f"matmul {size} f16 {block_m}x{block_n}x{block_k} w{warps} s{stages}", "matmul", "matmul",
          lambda k: k[grid](a, b, c, size, size, size, size, 1, size, 1, size, 1, BLOCK_M=block_m, BLOCK_N=block_n,
                            BLOCK_K=block_k, GROUP_M=8, num_warps=warps, num_stages=stages), 2 * size**3, "TFLOP/s")


def time_attention(length, dim, causal, warps):
    q, k, v, o = (randn(4, 16, length, dim, dtype=torch.float16) for _ in range(4))
    lse = torch.empty(64, length, device="cuda")
    timed(f"attention 4x16x{length}x{dim} causal={causal}", "attention", "attention",
          lambda kern: kern[(math.ceil(length / 128), 64)](
              q, k, v, o, lse, *q.stride()[:3], *k.stride()[:3], *v.stride()[:3], *o.stride()[:3], 16, length, dim**-0.5,
              BLOCK_M=128, BLOCK_N=64, HEAD_DIM=dim, CAUSAL=causal, num_warps=warps, num_stages=3),
          4 * 64 * length * length * dim * (0.5 if causal else 1), "TFLOP/s")


def time_rows(rows, cols, dtype):
    x, w = randn(rows, cols, dtype=dtype), randn(cols, dtype=dtype)
    y, mean, rstd = torch.empty_like(x), torch.empty(rows, device="cuda"), torch.empty(rows, device="cuda")
    traffic = 2 * x.numel() * x.element_size() * 1000
    timed(f"softmax {rows}x{cols} {dtype}", "softmax", "softmax",
          lambda k: k[(rows,)](x, y, cols, cols, cols, BLOCK=cols, num_warps=8), traffic, "GB/s")
    timed(f"layer_norm forward {rows}x{cols} {dtype}", "layer_norm", "layer_norm_forward",
          lambda k: k[(rows,)](x, y, w, w, mean, rstd, cols, cols, 1e-5, BLOCK=cols, num_warps=8), traffic, "GB/s")


def time_all():
    for config in ((128, 128, 32, 4, 3), (128, 128, 64, 4, 3), (128, 128, 64, 8, 3), (128, 256, 64, 8, 3)):
        time_matmul(4096, *config)
    for dim in (64, 128):
        for causal in (False, True):
            time_attention(4096, dim, causal, 8)
    # Long enough that the time a launch takes on the host does not show.
    time_rows(32768, 4096, torch.bfloat16)
    time_rows(16384, 8192, torch.float32)


def main():
    torch.manual_seed(0)
    half, bf16, f32 = torch.float16, torch.bfloat16, torch.float32
    print(f"{'kernel':48s} triton   tilew.   apart    bound")
    for dtype in (half, bf16, f32):
        vector_add(98432, dtype)
        softmax(300, 781, dtype, 4)
        matmul(513, 300, 200, dtype, 4, "leaky_relu")
        matmul(256, 256, 256, dtype, 8)
        layer_norm(151, 1000, dtype)
        dropout(10000, dtype)
        attention(2, 3, 333, 64, dtype, False, 4)
        attention(2, 3, 333, 64, dtype, True, 4)
        conv2d(2, 19, 20, 33, 2, 1, dtype)
    print(f"{failures} failed")
    if "--time" in sys.argv:
        time_all()
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
