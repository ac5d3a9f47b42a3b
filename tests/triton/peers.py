#!/usr/bin/env python3
"""Times the problems of models people run (Llama, ResNet, diffusion) on a GPU: Tilewright, Triton and the vendor's library.

Needs a GPU, torch, triton, and the `tilewright` package on PYTHONPATH (runtime/bindings/python).
    python3 tests/triton/peers.py [gemm] [attention] [conv] [rowwise] [--only WORD,WORD] [--wgmma] [--json FILE]

Both compilers get the same kernel text and the same list of configurations, and each keeps its fastest right one for a
problem. The winners and the library then run in turn, round after round, as CUDA graphs; the L2 cache is overwritten
before each, and the median counts. Inputs are random normals. Triton is kept to mma.sync (DISABLE_MMA_V3=1) unless
--wgmma; the library (cuBLAS, cuDNN, torch) uses what it likes.
"""
import argparse
import importlib.util
import json
import math
import multiprocessing
import os
import pathlib
import statistics
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

HERE = pathlib.Path(__file__).resolve().parent
KERNELS = HERE.parents[1] / "kernels_lib"
TORCH_DTYPES = {"bf16": "bfloat16", "f16": "float16", "f32": "float32"}


@dataclass
class Problem:
    """A row of the table: prepare() -> (arguments, grid(config), result tensor, check(result) -> bool, library call)."""

    kind: str
    name: str
    file: pathlib.Path
    function: str
    configs: list
    prepare: callable
    work: float = 0.0  # operations
    bytes: float = 0.0
    sides: dict = field(default_factory=dict)


def random(*shape, dtype="bf16", scale=1.0):
    import torch

    return (torch.randn(*shape, device="cuda") * scale).to(getattr(torch, TORCH_DTYPES[dtype]))


def close(result, reference, tolerance):
    return ((result.double() - reference.double()).norm() / reference.double().norm()).item() <= tolerance


def block(warps, stages, **constants):
    return dict(constants, num_warps=warps, num_stages=stages)


# ---- matrix products

GEMM_BLOCKS = [
    (128, 256, 64, 8, 3), (128, 256, 64, 8, 4), (128, 128, 64, 8, 4), (128, 128, 64, 4, 4), (128, 128, 32, 4, 4), (128, 128, 64, 4, 3),
    (256, 128, 64, 8, 3), (128, 64, 64, 4, 4), (64, 128, 64, 4, 4), (64, 64, 64, 4, 5), (64, 256, 64, 4, 4), (64, 256, 64, 8, 4),
    (16, 128, 128, 4, 5), (16, 64, 256, 4, 4), (16, 64, 128, 4, 6), (16, 32, 256, 2, 4), (16, 128, 64, 4, 5), (32, 64, 128, 4, 5), (256, 128, 32, 8, 4), (128, 256, 32, 8, 4),
]


def gemm(m, n, k, dtype="bf16", layout="nt", note=""):
    def prepare():
        import torch

        torch.backends.cuda.matmul.allow_tf32 = True
        a = random(m, k, dtype=dtype)
        b = random(n, k, dtype=dtype).t() if layout == "nt" else random(k, n, dtype=dtype)
        c = torch.empty(m, n, device="cuda", dtype=a.dtype)
        rows = slice(max(0, m - 256), None)

        def grid(config):
            return (math.ceil(m / config["BLOCK_M"]) * math.ceil(n / config["BLOCK_N"]),)

        def check(result):
            return close(result[rows], a[rows].double() @ b.double(), 4e-3 if dtype != "f32" else 1e-3)

        out = torch.empty_like(c)
        return (a, b, c, m, n, k, *a.stride(), *b.stride(), *c.stride()), grid, c, check, lambda: torch.mm(a, b, out=out)

    configs = [block(warps, stages, BLOCK_M=bm, BLOCK_N=bn, BLOCK_K=bk // (2 if dtype == "f32" else 1), GROUP_M=8)
               for bm, bn, bk, warps, stages in GEMM_BLOCKS if bm <= max(16, 2 * m)]
    return Problem("gemm", f"{m}x{n}x{k} {dtype} {layout} {note}", KERNELS / "matmul" / "kernel.py", "matmul", configs, prepare,
                   work=2.0 * m * n * k)


def gemms():
    return [
        gemm(8192, 8192, 8192), gemm(4096, 4096, 4096), gemm(2048, 2048, 2048), gemm(1024, 1024, 1024),
        gemm(8192, 8192, 8192, "f16"), gemm(8192, 8192, 8192, "bf16", "nn"), gemm(4096, 14336, 4096), gemm(4096, 4096, 14336),
        gemm(16, 14336, 4096), gemm(1, 14336, 4096), gemm(64, 4096, 14336), gemm(512, 512, 65536), gemm(5000, 5000, 5000),
        gemm(3001, 2999, 1003), gemm(4096, 4096, 4096, "f32", note="tf32"),
    ]


# ---- attention

ATTENTION_BLOCKS = [(128, 128, 8, 3), (128, 64, 8, 3), (128, 64, 4, 3), (64, 64, 4, 3), (64, 128, 4, 3), (128, 128, 8, 2), (64, 32, 4, 4),
                    (128, 64, 8, 2), (128, 32, 8, 3), (128, 32, 4, 3)]


def attention(batch, heads, kv_heads, queries, keys, dim, causal):
    def prepare():
        import torch

        q, k, v = random(batch, heads, queries, dim), random(batch, kv_heads, keys, dim), random(batch, kv_heads, keys, dim)
        o = torch.empty_like(q)

        def grid(config):
            return (math.ceil(queries / config["BLOCK_M"]), batch * heads)

        def library():
            return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal, enable_gqa=heads != kv_heads)

        def check(result):
            return close(result, library(), 1e-2)

        arguments = (q, k, v, o, dim**-0.5, *q.stride()[:3], *k.stride()[:3], heads, heads // kv_heads, queries, keys)
        return arguments, grid, o, check, library

    blocks = ATTENTION_BLOCKS if queries > 16 else [(16, 128, 4, 3), (16, 64, 4, 4), (16, 128, 8, 3), (16, 64, 2, 4)]
    configs = [block(warps, stages, HEAD_DIM=dim, CAUSAL=causal, BLOCK_M=bm, BLOCK_N=bn) for bm, bn, warps, stages in blocks]
    work = 4.0 * batch * heads * queries * keys * dim * (0.5 if causal else 1.0)
    name = f"{batch}x{heads}/{kv_heads} {queries}x{keys} d{dim} {'causal' if causal else 'full'}"
    return Problem("attention", name, HERE / "peers_attention.py", "grouped_attention", configs, prepare, work=work)


def attentions():
    return [
        attention(4, 16, 16, 4096, 4096, 128, False), attention(4, 16, 16, 4096, 4096, 128, True),
        attention(2, 16, 16, 16384, 16384, 128, False), attention(2, 16, 16, 16384, 16384, 128, True),
        attention(8, 32, 32, 1024, 1024, 64, True), attention(4, 32, 32, 4096, 4096, 64, True), attention(4, 8, 8, 4096, 4096, 256, True),
        attention(4, 32, 8, 4096, 4096, 128, True), attention(32, 32, 8, 1, 8192, 128, False),
    ]


# ---- convolution

CONV_BLOCKS = [(128, 128, 32, 4, 4), (128, 128, 64, 4, 3), (128, 64, 64, 4, 4), (128, 256, 64, 8, 3), (128, 128, 64, 8, 3), (64, 64, 64, 4, 4),
               (64, 128, 64, 4, 4), (64, 64, 32, 4, 4), (256, 64, 64, 8, 3), (256, 64, 32, 4, 4), (128, 64, 32, 4, 4), (128, 64, 16, 4, 4)]


def conv(batch, size, channels, filters, kernel, stride=1, pad=0):
    out = (size + 2 * pad - kernel) // stride + 1

    def prepare():
        import torch

        x = random(batch, channels, size, size).to(memory_format=torch.channels_last)
        w = random(filters, channels, kernel, kernel, scale=(channels * kernel**2) ** -0.5).to(memory_format=torch.channels_last)
        bias = random(filters)
        y = torch.empty(batch, filters, out, out, device="cuda", dtype=x.dtype).to(memory_format=torch.channels_last)

        def grid(config):
            return (math.ceil(batch * out * out / config["BLOCK_M"]), math.ceil(filters / config["BLOCK_N"]))

        def library():
            return torch.nn.functional.conv2d(x, w, bias, stride=stride, padding=pad)

        def check(result):
            return close(result, library(), 1e-2)

        torch.backends.cudnn.benchmark = True
        arguments = (x, w, bias, y, batch, size, size, channels, filters, out, out, stride, stride, pad, pad, 1, 1)
        return arguments, grid, y, check, library

    configs = [block(warps, stages, R=kernel, S=kernel, BLOCK_M=bm, BLOCK_N=bn, BLOCK_K=bk) for bm, bn, bk, warps, stages in CONV_BLOCKS
               if bk <= max(16, channels)]
    name = f"{batch}x{size}x{size}x{channels} -> {filters} {kernel}x{kernel}/{stride}"
    return Problem("conv", name, KERNELS / "conv2d" / "kernel.py", "conv2d", configs, prepare,
                   work=2.0 * batch * out * out * filters * channels * kernel**2)


def convs():
    return [
        conv(64, 224, 4, 64, 7, 2, 3), conv(64, 56, 64, 64, 3, 1, 1), conv(64, 56, 64, 256, 1), conv(64, 28, 128, 128, 3, 1, 1),
        conv(64, 14, 256, 256, 3, 1, 1), conv(64, 7, 512, 512, 3, 1, 1), conv(64, 56, 256, 256, 3, 1, 1), conv(64, 56, 128, 128, 3, 2, 1),
        conv(2, 64, 320, 320, 3, 1, 1), conv(2, 32, 640, 640, 3, 1, 1),
    ]


# ---- rows

def rowwise(op, rows, cols):
    folder, function = {"softmax": ("softmax", "softmax"), "layernorm": ("layer_norm", "layer_norm_forward_row"),
                        "rmsnorm": ("rms_norm", "rms_norm_forward")}[op]

    def prepare():
        import torch

        x, w, b = random(rows, cols), random(cols), random(cols)
        y, statistics_ = torch.empty_like(x), [torch.empty(rows, device="cuda") for _ in range(2)]
        arguments = {"softmax": (x, y, cols, cols, cols), "layernorm": (x, y, w, b, *statistics_, cols, cols, 1e-6),
                     "rmsnorm": (x, y, w, statistics_[0], cols, cols, 1e-6)}[op]
        library = {"softmax": lambda: torch.softmax(x, -1), "layernorm": lambda: torch.nn.functional.layer_norm(x, (cols,), w, b, 1e-6),
                   "rmsnorm": lambda: torch.nn.functional.rms_norm(x, (cols,), w, 1e-6)}[op]
        return arguments, lambda config: (rows,), y, lambda result: close(result, library(), 8e-3), library

    width = 1 << (cols - 1).bit_length()
    configs = [block(warps, 1, BLOCK=width) for warps in (1, 2, 4, 8, 16, 32) if 4 * 32 * warps <= width <= 32 * 32 * warps * 2]
    return Problem("rowwise", f"{op} {rows}x{cols}", KERNELS / folder / "kernel.py", function, configs, prepare, bytes=4.0 * rows * cols)


def rowwises():
    return [rowwise(op, rows, cols) for op in ("softmax", "layernorm", "rmsnorm")
            for rows, cols in ((8192, 4096), (4096, 1024), (2048, 32768), (65536, 768))]


PROBLEMS = {"gemm": gemms, "attention": attentions, "conv": convs, "rowwise": rowwises}


# ---- compiling and timing

def triton_kernel(problem):
    spec = importlib.util.spec_from_file_location(problem.file.parent.name + "_triton", problem.file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    kernel = getattr(module, problem.function)
    return getattr(kernel, "fn", kernel) if type(kernel).__name__ == "Autotuner" else kernel


def compile_for_triton(job):
    """In a process of its own, so that Triton's compiles run side by side; the result is in its disk cache."""
    kind, index = job
    problem = PROBLEMS[kind]()[index]
    kernel = triton_kernel(problem)
    arguments, grid, *_ = problem.prepare()
    for config in problem.configs:
        try:
            kernel.warmup(*arguments, grid=grid(config), **config)
        except Exception:  # a configuration that does not fit is left out later
            pass


def current():
    import torch

    return torch.cuda.current_stream().cuda_stream


class Timer:
    """Milliseconds of a captured launch, after the L2 cache was overwritten."""

    def __init__(self):
        import torch

        self.torch = torch
        self.scrap = torch.empty(64 << 20, dtype=torch.int32, device="cuda")

    def capture(self, launch):
        torch = self.torch
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            launch()
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=stream):
            launch()
        return graph.replay

    def once(self, replay):
        self.scrap.zero_()
        start, end = (self.torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        replay()
        end.record()
        return start, end

    def median(self, replay, rounds):
        events = [self.once(replay) for _ in range(rounds)]
        self.torch.cuda.synchronize()
        return statistics.median(start.elapsed_time(end) for start, end in events)


def launcher(kernel, arguments, grid, config, ours):
    if ours:
        return lambda: kernel[grid](*arguments, stream=current(), **config)
    return lambda: kernel[grid](*arguments, **config)


def fastest(timer, kernel, problem, prepared, ours):
    """(milliseconds, config, replay) of the fastest right configuration, and what was wrong with others."""
    arguments, grid, result, check, _ = prepared
    found, wrong = [], []
    for config in problem.configs:
        launch = launcher(kernel, arguments, grid(config), config, ours)
        try:
            result.fill_(float("nan"))
            launch()
            if not check(result):
                wrong.append((config, "WRONG"))
                continue
            replay = timer.capture(launch)
            found.append((timer.median(replay, 5), str(config), replay))
        except Exception as error:
            wrong.append((config, " ".join(str(error).split())[-160:]))
    return (min(found, key=lambda entry: entry[0]) if found else None), wrong


def prebuild(problem, kernel, prepared):
    """Compiles outside Python, so threads run side by side."""
    arguments, grid, *_ = prepared

    def build(config):
        try:
            launcher(kernel, arguments, grid(config), config, True)()
        except Exception:
            pass
    with ThreadPoolExecutor(16) as pool:
        list(pool.map(build, problem.configs))


def measure(timer, problem):
    import tilewright
    import torch

    torch.manual_seed(0)
    prepared = problem.prepare()
    ours = tilewright.compile(problem.file, problem.function)
    prebuild(problem, ours, prepared)
    sides, wrong = {}, {}
    for name, kernel, is_ours in (("tilewright", ours, True), ("triton", triton_kernel(problem), False)):
        best, wrong[name] = fastest(timer, kernel, problem, prepared, is_ours)
        if best:
            sides[name] = best[1:]
    try:
        sides["library"] = ("", timer.capture(prepared[4]))
    except Exception as error:
        wrong["library"] = str(error)[-160:]
    times = {name: [] for name in sides}
    order = list(sides)
    for round_ in range(15):
        order = order[1:] + order[:1]
        timer.median(sides[order[0]][1], 1)
        for name in order:
            times[name].append(timer.median(sides[name][1], 1))
    ms = {name: statistics.median(values) for name, values in times.items()}
    row = {"kind": problem.kind, "name": problem.name, "ms": ms, "config": {name: side[0] for name, side in sides.items()},
           "failed": {name: [(str(c), e) for c, e in rows] if isinstance(rows, list) else rows for name, rows in wrong.items()}}
    mine = ms.get("tilewright", math.inf)
    rate = (lambda t: f"{problem.work / t / 1e9:6.0f} TFLOP/s") if problem.work else (lambda t: f"{problem.bytes / t / 1e6:6.0f} GB/s")
    sums = {name: f"{name} {t * 1000:8.1f} us {rate(t)}" for name, t in ms.items()}
    bad = [name for name in ("tilewright", "triton") if any(e == "WRONG" for _, e in wrong[name])]
    print(f"{problem.kind:9s} {problem.name:42s} {'  '.join(sums.values())}  x triton {ms.get('triton', math.nan) / mine:4.2f}  "
          f"x library {ms.get('library', math.nan) / mine:4.2f} {'WRONG: ' + ', '.join(bad) if bad else ''}", flush=True)
    return row


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("kinds", nargs="*", default=list(PROBLEMS))
    parser.add_argument("--only", default="", help="problems whose name has one of these words")
    parser.add_argument("--json")
    parser.add_argument("--wgmma", action="store_true", help="let Triton use wgmma")
    args = parser.parse_args()
    if not args.wgmma:
        os.environ["DISABLE_MMA_V3"] = "1"
    words = args.only.split(",")
    jobs = [(kind, index) for kind in args.kinds for index, problem in enumerate(PROBLEMS[kind]())
            if any(word in problem.name for word in words)]
    with multiprocessing.get_context("spawn").Pool(14) as pool:
        pool.map(compile_for_triton, jobs, chunksize=1)
    timer = Timer()
    rows = []
    for kind, index in jobs:
        rows.append(measure(timer, PROBLEMS[kind]()[index]))
        if args.json:
            pathlib.Path(args.json).write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    sys.exit(main())
