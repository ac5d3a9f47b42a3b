#!/usr/bin/env python3
"""How long a first launch takes more than a second one, under Triton and under Tilewright, with empty caches.

Needs a GPU, torch, triton, and the `tilewright` package on PYTHONPATH (runtime/bindings/python).
    python3 tests/triton/compile_time.py
One configuration a kernel, one process, one after another; both sides have compiled a kernel before, so that loading
NVRTC or LLVM is not in the figures.
"""
import os
import sys
import tempfile
import time

EMPTY = tempfile.TemporaryDirectory()
os.environ["TRITON_CACHE_DIR"] = os.environ["TILEWRIGHT_CACHE"] = EMPTY.name
os.environ["DISABLE_MMA_V3"] = "1"

import torch  # noqa: E402

import memory_bound  # noqa: E402
import peers  # noqa: E402
import tilewright  # noqa: E402
from compare import both  # noqa: E402

measured = set()
slowest = {"triton": 0.0, "tilewright": 0.0}


def seconds(launch):
    torch.cuda.synchronize()
    start = time.perf_counter()
    launch()
    torch.cuda.synchronize()
    return time.perf_counter() - start


def report(label, launches):
    """launches: side -> a launch."""
    cold = {}
    for side, launch in launches.items():
        first = seconds(launch)
        cold[side] = 1000 * (first - seconds(launch))
        slowest[side] = max(slowest[side], cold[side])
    print(f"{label:60s} triton {cold['triton']:7.0f} ms  tilewright {cold['tilewright']:7.0f} ms  "
          f"{cold['triton'] / cold['tilewright']:5.1f}x", flush=True)


def row_kernel(label, op, name, call, read, written, warps):
    if name in measured:
        return
    measured.add(name)
    some = warps[len(warps) // 2]
    report(f"{name}: {label}, {some} warps", {side: lambda kernel=kernel: call(kernel, some) for side, kernel in both(op, name)})


def problem(one, config):
    arguments, grid, *_ = one.prepare()
    ours, theirs = tilewright.compile(one.file, one.function), peers.triton_kernel(one)
    report(f"{one.function}: {one.name.strip()}, {config['num_warps']} warps",
           {"triton": peers.launcher(theirs, arguments, grid(config), config, False),
            "tilewright": peers.launcher(ours, arguments, grid(config), config, True)})


def main():
    torch.manual_seed(0)
    for _, kernel in both("vector_add", "vector_add"):
        kernel[(1,)](*(torch.zeros(64, device="cuda") for _ in range(3)), 64, BLOCK=64)
    for one in (peers.gemms()[1], peers.gemms()[-1], peers.attentions()[0], peers.attentions()[4], peers.convs()[6]):
        for config in one.configs[:2]:
            problem(one, config)
    memory_bound.timed = row_kernel
    memory_bound.time_rows(4096, torch.bfloat16)
    memory_bound.time_others(torch.bfloat16)
    print(f"slowest: triton {slowest['triton']:.0f} ms, tilewright {slowest['tilewright']:.0f} ms")


if __name__ == "__main__":
    sys.exit(main())
