"""The rate of mma instructions whose operands stay in registers: the ceiling of any kernel that multiplies with them.

    python3 tests/triton/peak.py

The kernel is compiled by Tilewright: the operands of a dot in a loop that does not change them are loaded once.
"""
import statistics

TEXT = '''
@triton.jit
def peak(x_ptr, out_ptr, n, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, ACC: tl.constexpr):
    rows, cols, ks = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    a = tl.load(x_ptr + rows[:, None] * K + ks[None, :])
    b = tl.load(x_ptr + cols[None, :] * K + ks[:, None])
    acc = tl.zeros((M, N), dtype=ACC)
    for i in range(n):
        acc = tl.dot(a, b, acc)
    tl.store(out_ptr + rows[:, None] * N + cols[None, :], acc)
'''
M, N, WARPS = 128, 128, 4
K_BYTES = 32  # one instruction deep
STEPS, PROGRAMS_PER_SM = 20000, 2


class Peak:
    """Peak()(dtype) is TFLOP/s (TOP/s for integers) for "f16", "bf16", "f32" (as tf32) or "i8"."""

    def __init__(self):
        import tilewright
        import torch

        self.torch = torch
        self.kernel = tilewright.compile(TEXT, "peak")
        self.programs = PROGRAMS_PER_SM * torch.cuda.get_device_properties(0).multi_processor_count
        self.out = torch.empty(M, N, device="cuda", dtype=torch.float32)
        self.inputs = {}

    @staticmethod
    def accumulator(dtype):
        import tilewright

        return tilewright.dtype("int32" if dtype == "i8" else "float32")

    def operand(self, dtype):
        if dtype not in self.inputs:
            if dtype == "i8":
                x = self.torch.randint(-128, 128, (M, 64), device="cuda", dtype=self.torch.int8)
            else:
                kind = {"f16": "float16", "bf16": "bfloat16", "f32": "float32"}[dtype]
                x = self.torch.randn(M, 64, device="cuda").to(getattr(self.torch, kind))
            self.inputs[dtype] = x
        return self.inputs[dtype]

    def __call__(self, dtype):
        x = self.operand(dtype)
        k = K_BYTES // x.element_size()
        out = self.out.view(self.torch.int32) if dtype == "i8" else self.out
        start, end = self.torch.cuda.Event(enable_timing=True), self.torch.cuda.Event(enable_timing=True)

        def launch():
            self.kernel[(self.programs,)](x, out, STEPS, M=M, N=N, K=k, ACC=self.accumulator(dtype), num_warps=WARPS)

        launch()
        start.record()
        launch()
        end.record()
        end.synchronize()
        return 2 * M * N * k * STEPS * self.programs / start.elapsed_time(end) / 1e9


if __name__ == "__main__":
    peak = Peak()
    for name in ("f16", "bf16", "f32", "i8"):
        print(name, f"{statistics.median(peak(name) for _ in range(5)):.1f}")
