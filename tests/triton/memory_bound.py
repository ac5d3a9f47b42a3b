#!/usr/bin/env python3
"""The kernels whose speed is that of memory, under Triton and under Tilewright, beside a copy of as many bytes.

Needs a GPU, torch, triton, and the `tilewright` package on PYTHONPATH (runtime/bindings/python).
    python3 tests/triton/memory_bound.py            compare the outputs
    python3 tests/triton/memory_bound.py --time     and time both: the better of several warp counts each
    python3 tests/triton/memory_bound.py --time softmax rms     only rows whose label has one of the words
    python3 tests/triton/memory_bound.py --time --warm 3/12     only compile, the third twelfth of the rows: run all
                                                                twelve side by side before timing
Rates count the bytes a kernel has to move: each input read once, each output written once.
"""
import math
import sys

import torch

from compare import EPS, bench, both, randn, row
import compare

DTYPES = (torch.float16, torch.bfloat16, torch.float32)


def power(n):
    return 1 << (n - 1).bit_length()


# ---- correctness ----


def rms_norm(rows, cols, dtype):
    x, w, dy = randn(rows, cols, dtype=dtype), randn(cols, dtype=dtype), randn(rows, cols, dtype=dtype)
    xd, wd = x.double().requires_grad_(), w.double().requires_grad_()
    y_ref = xd * torch.rsqrt((xd * xd).mean(1, keepdim=True) + 1e-5) * wd
    y_ref.backward(dy.double())
    outs, programs, block = {"y": {}, "dx": {}, "dw": {}}, 12, power(cols)
    for side, forward in both("rms_norm", "rms_norm_forward"):
        backward, reduce = (dict(both("rms_norm", name))[side] for name in ("rms_norm_backward", "rms_norm_backward_dw"))
        y, dx, dw = torch.full_like(x, float("nan")), torch.full_like(x, float("nan")), torch.full_like(w, float("nan"))
        rstd, part = torch.empty(rows, device="cuda"), torch.empty(programs, cols, device="cuda")
        forward[(rows,)](x, y, w, rstd, cols, cols, 1e-5, BLOCK=block)
        backward[(programs,)](dx, dy, x, w, rstd, part, cols, rows, cols, BLOCK=block)
        reduce[(math.ceil(cols / 64),)](part, dw, programs, cols, BLOCK_M=16, BLOCK_N=64)
        for key, value in (("y", y), ("dx", dx), ("dw", dw)):
            outs[key][side] = value
    for key, reference in (("y", y_ref), ("dx", xd.grad), ("dw", wd.grad)):
        row(f"rms_norm {key} {rows}x{cols} {dtype}", outs[key], reference.detach(), 4 * EPS[dtype])


def layer_norm(rows, cols, dtype):
    x, w, b, dy = randn(rows, cols, dtype=dtype), randn(cols, dtype=dtype), randn(cols, dtype=dtype), randn(rows, cols, dtype=dtype)
    xd, wd, bd = x.double().requires_grad_(), w.double().requires_grad_(), b.double().requires_grad_()
    y_ref = torch.nn.functional.layer_norm(xd, (cols,), wd, bd, 1e-5)
    y_ref.backward(dy.double())
    outs, programs, block = {"y": {}, "dx": {}, "dw": {}, "db": {}}, 12, power(cols)
    for side, forward in both("layer_norm", "layer_norm_forward_row"):
        backward, reduce = (dict(both("layer_norm", name))[side] for name in ("layer_norm_backward", "layer_norm_backward_dwdb"))
        y, dx = torch.full_like(x, float("nan")), torch.full_like(x, float("nan"))
        dw, db = torch.full_like(w, float("nan")), torch.full_like(w, float("nan"))
        mean, rstd = torch.empty(rows, device="cuda"), torch.empty(rows, device="cuda")
        dw_part, db_part = torch.empty(programs, cols, device="cuda"), torch.empty(programs, cols, device="cuda")
        forward[(rows,)](x, y, w, b, mean, rstd, cols, cols, 1e-5, BLOCK=block)
        backward[(programs,)](dx, dy, dw_part, db_part, x, w, mean, rstd, cols, rows, cols, BLOCK=block)
        reduce[(math.ceil(cols / 64),)](dw_part, db_part, dw, db, programs, cols, BLOCK_M=16, BLOCK_N=64)
        for key, value in (("y", y), ("dx", dx), ("dw", dw), ("db", db)):
            outs[key][side] = value
    for key, reference in (("y", y_ref), ("dx", xd.grad), ("dw", wd.grad), ("db", bd.grad)):
        row(f"layer_norm by row, {key} {rows}x{cols} {dtype}", outs[key], reference.detach(), 4 * EPS[dtype])


def cross_entropy(rows, cols, dtype):
    x, target = 4 * randn(rows, cols, dtype=dtype), torch.randint(cols, (rows,), device="cuda")
    target[1] = -100
    xd = x.double().requires_grad_()
    loss_ref = torch.nn.functional.cross_entropy(xd, target, reduction="none", ignore_index=-100)
    dloss = randn(rows)
    loss_ref.backward(dloss.double())
    losses, grads = {}, {}
    for side, forward in both("cross_entropy", "cross_entropy_forward"):
        backward = dict(both("cross_entropy", "cross_entropy_backward"))[side]
        loss, lse, dx = torch.full((rows,), float("nan"), device="cuda"), torch.empty(rows, device="cuda"), torch.full_like(x, float("nan"))
        forward[(rows,)](x, target, loss, lse, cols, cols, -100, STEPS=4, LANES=256)
        backward[(rows, math.ceil(cols / 512))](dx, dloss, x, target, lse, cols, cols, -100, BLOCK=512)
        losses[side], grads[side] = loss, dx
    row(f"cross_entropy loss {rows}x{cols} {dtype}", losses, loss_ref.detach(), 4 * EPS[torch.float32])
    row(f"cross_entropy dlogits {rows}x{cols} {dtype}", grads, xd.grad, 2 * EPS[dtype])


def simple(label, op, name, x_like, launch, reference, bound):
    out = {}
    for side, kernel in both(op, name):
        y = torch.full_like(x_like, float("nan"))
        launch(kernel, y)
        out[side] = y
    row(label, out, reference, bound)


def others(dtype):
    x = randn(7, 5000, dtype=dtype)
    simple(f"softmax_wide 7x5000 {dtype}", "softmax", "softmax_wide", x,
           lambda k, y: k[(7,)](x, y, 5000, 5000, 5000, STEPS=4, LANES=256), torch.softmax(x.double(), 1), 2 * EPS[dtype])
    m = randn(333, 1000, dtype=dtype)
    simple(f"transpose 333x1000 {dtype}", "transpose", "transpose", torch.empty(1000, 333, device="cuda", dtype=dtype),
           lambda k, y: k[(16, 6)](m, y, 333, 1000, 1000, 333, BLOCK_M=64, BLOCK_N=64), m.double().T, 0.0)
    n, a, b = 10000, randn(10000, dtype=dtype), randn(10000, dtype=dtype)
    grid = (math.ceil(n / 1024),)
    for tanh in (0, 1):
        simple(f"gelu {dtype} tanh={tanh}", "activation", "gelu", a, lambda k, y: k[grid](a, y, n, TANH=tanh, BLOCK=1024),
               torch.nn.functional.gelu(a.double(), approximate="tanh" if tanh else "none"), 2 * EPS[dtype])
    simple(f"silu_mul {dtype}", "activation", "silu_mul", a, lambda k, y: k[grid](a, b, y, n, BLOCK=1024),
           torch.nn.functional.silu(a.double()) * b.double(), 2 * EPS[dtype])


# ---- times ----


WARM = None  # (part, parts)
rows_seen = 0


def warm(op, name, launch, warps):
    """Both compilers' results into their disk caches."""
    global rows_seen
    rows_seen += 1
    if rows_seen % WARM[1] != WARM[0] % WARM[1]:
        return
    for side, kernel in both(op, name):
        for count in warps:
            try:
                launch(kernel, count)
            except Exception:  # told when it is timed
                pass


def timed(label, op, name, launch, read, written, warps):
    """launch(kernel, warps); `read` and `written` are bytes. The copy moves as many bytes in all."""
    words = [word for word in sys.argv[1:] if not word.startswith("-") and "/" not in word]
    if words and not any(word in label for word in words):
        return
    if WARM is not None:
        return warm(op, name, launch, warps)
    source = torch.empty((read + written) // 2, device="cuda", dtype=torch.uint8)
    sink = torch.empty_like(source)
    times, best = {"copy": []}, {}
    for side, kernel in both(op, name):
        tried = {}
        for count in warps:
            try:
                tried[count] = bench(lambda: launch(kernel, count))
            except Exception as error:  # out of resources: the others count
                print(f"# {label} {side} {count} warps: {str(error).splitlines()[0][:100]}")
        best[side] = (kernel, min(tried, key=tried.get))
        times[side] = []
    for _ in range(5):
        times["copy"].append(bench(lambda: sink.copy_(source)))
        for side, (kernel, count) in best.items():
            times[side].append(bench(lambda: launch(kernel, count)))
    rate = {side: (read + written) / sorted(t)[2] / 1e6 for side, t in times.items()}
    print(f"{label:44s} copy {rate['copy']:6.0f}   triton {rate['triton']:6.0f} (w{best['triton'][1]})   tilewright "
          f"{rate['tilewright']:6.0f} (w{best['tilewright'][1]}) GB/s   {rate['tilewright'] / rate['triton']:.3f} of triton, "
          f"{rate['tilewright'] / rate['copy']:.3f} of copy", flush=True)


def time_rows(cols, dtype):
    rows = max(2048, 2**26 // cols)
    size, label = torch.empty(0, dtype=dtype).element_size(), f"{rows}x{cols} {str(dtype)[6:]}"
    x, dy, w = randn(rows, cols, dtype=dtype), randn(rows, cols, dtype=dtype), randn(cols, dtype=dtype)
    y, mean, rstd = torch.empty_like(x), torch.zeros(rows, device="cuda"), torch.ones(rows, device="cuda")
    n, block = rows * cols * size, power(cols)
    warps = [count for count in (2, 4, 8, 16, 32) if 4 <= block // (32 * count) <= 64]
    timed(f"softmax {label}", "softmax", "softmax",
          lambda k, c: k[(rows,)](x, y, cols, cols, cols, BLOCK=block, num_warps=c), n, n, warps)
    timed(f"layer_norm (three sweeps) {label}", "layer_norm", "layer_norm_forward",
          lambda k, c: k[(rows,)](x, y, w, w, mean, rstd, cols, cols, 1e-5, BLOCK=block, num_warps=c), n, n, warps)
    timed(f"layer_norm by row {label}", "layer_norm", "layer_norm_forward_row",
          lambda k, c: k[(rows,)](x, y, w, w, mean, rstd, cols, cols, 1e-5, BLOCK=block, num_warps=c), n, n, warps)
    timed(f"rms_norm {label}", "rms_norm", "rms_norm_forward",
          lambda k, c: k[(rows,)](x, y, w, rstd, cols, cols, 1e-5, BLOCK=block, num_warps=c), n, n, warps)
    if cols > 16384:
        return
    units = torch.cuda.get_device_properties(0).multi_processor_count
    for share in (1, 2, 4):
        programs = share * units
        part, part_b = torch.empty(programs, cols, device="cuda"), torch.empty(programs, cols, device="cuda")
        bytes_part = 4 * programs * cols
        some = [count for count in warps if block // (32 * count) <= 16]
        timed(f"rms_norm backward, {share} an SM {label}", "rms_norm", "rms_norm_backward",
              lambda k, c: k[(programs,)](y, dy, x, w, rstd, part, cols, rows, cols, BLOCK=block, num_warps=c),
              2 * n, n + bytes_part, some)
        timed(f"layer_norm backward, {share} an SM {label}", "layer_norm", "layer_norm_backward",
              lambda k, c: k[(programs,)](y, dy, part, part_b, x, w, mean, rstd, cols, rows, cols, BLOCK=block, num_warps=c),
              2 * n, n + 2 * bytes_part, some)


def time_others(dtype):
    size, kind = torch.empty(0, dtype=dtype).element_size(), str(dtype)[6:]
    vector = 16 // size
    for cols in (32768, 131072):
        rows = 2**27 // cols
        x, y = randn(rows, cols, dtype=dtype), torch.empty(rows, cols, device="cuda", dtype=dtype)
        n = rows * cols * size
        timed(f"softmax_wide {rows}x{cols} {kind}", "softmax", "softmax_wide",
              lambda k, c: k[(rows,)](x, y, cols, cols, cols, STEPS=4, LANES=32 * c * vector, num_warps=c), n, n, (4, 8, 16))
        target, lse = torch.randint(cols, (rows,), device="cuda"), torch.zeros(rows, device="cuda")
        loss = torch.ones(rows, device="cuda")
        timed(f"cross_entropy {rows}x{cols} {kind}", "cross_entropy", "cross_entropy_forward",
              lambda k, c: k[(rows,)](x, target, loss, lse, cols, cols, -100, STEPS=4, LANES=32 * c * vector, num_warps=c), n, 0, (4, 8, 16))
        timed(f"cross_entropy backward {rows}x{cols} {kind}", "cross_entropy", "cross_entropy_backward",
              lambda k, c: k[(rows, math.ceil(cols / (512 * c)))](y, loss, x, target, lse, cols, cols, -100, BLOCK=512 * c, num_warps=c), n, n, (4, 8))
    side = 8192
    x, y = randn(side, side, dtype=dtype), torch.empty(side, side, device="cuda", dtype=dtype)
    n = side * side * size
    timed(f"transpose {side}x{side} {kind}", "transpose", "transpose",
          lambda k, c: k[(side // 64, side // 64)](x, y, side, side, side, side, BLOCK_M=64, BLOCK_N=64, num_warps=c), n, n, (4, 8))
    count, up = x.numel(), randn(side, side, dtype=dtype)
    for per_thread in (8, 16):
        label = f"{count} {kind}, {per_thread} a thread"
        grid = lambda c: (count // (32 * c * per_thread),)
        timed(f"vector_add {label}", "vector_add", "vector_add",
              lambda k, c: k[grid(c)](x, up, y, count, BLOCK=32 * c * per_thread, num_warps=c), 2 * n, n, (4, 8))
        timed(f"gelu {label}", "activation", "gelu",
              lambda k, c: k[grid(c)](x, y, count, TANH=0, BLOCK=32 * c * per_thread, num_warps=c), n, n, (4, 8))
        timed(f"silu_mul {label}", "activation", "silu_mul",
              lambda k, c: k[grid(c)](x, up, y, count, BLOCK=32 * c * per_thread, num_warps=c), 2 * n, n, (4, 8))
        timed(f"dropout {label}", "dropout", "dropout",
              lambda k, c: k[grid(c)](x, y, count, 0.25, 123, BLOCK=32 * c * per_thread, num_warps=c), n, n, (4, 8))


def time_all():
    for dtype in (torch.bfloat16, torch.float32):
        for cols in (1024, 4096, 8192, 16384, 32768):
            time_rows(cols, dtype)
        time_others(dtype)


def main():
    global WARM
    torch.manual_seed(0)
    if "--warm" in sys.argv:
        WARM = tuple(int(n) for n in sys.argv[sys.argv.index("--warm") + 1].split("/"))
        return time_all()
    print(f"{'kernel':48s} triton   tilew.   apart    bound")
    for dtype in DTYPES:
        rms_norm(151, 1000, dtype)
        layer_norm(151, 1000, dtype)
        cross_entropy(33, 3000, dtype)
        others(dtype)
    print(f"{compare.failures} failed")
    if "--time" in sys.argv:
        time_all()
    return 1 if compare.failures else 0


if __name__ == "__main__":
    sys.exit(main())
