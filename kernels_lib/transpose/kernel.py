"""y = x^T of a matrix, tile by tile; x is rows by cols."""
import triton
import triton.language as tl


@triton.jit
def transpose(x_ptr, y_ptr, rows, cols, x_stride, y_stride, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    row = tl.program_id(1) * BLOCK_M + tl.arange(0, BLOCK_M)
    col = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    x_mask = (row[:, None] < rows) & (col[None, :] < cols)
    x = tl.load(x_ptr + row[:, None].to(tl.int64) * x_stride + col[None, :], mask=x_mask)
    y_mask = (col[:, None] < cols) & (row[None, :] < rows)
    tl.store(y_ptr + col[:, None].to(tl.int64) * y_stride + row[None, :], tl.trans(x), mask=y_mask)
