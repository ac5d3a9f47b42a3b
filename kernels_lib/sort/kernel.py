"""Rows in order, and the largest elements of rows: one program a block of ROWS rows of COLS elements."""
import triton
import triton.language as tl


@triton.jit
def sort_rows(x_ptr, y_ptr, rows, ROWS: tl.constexpr, COLS: tl.constexpr, DESCENDING: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    at = row[:, None].to(tl.int64) * COLS + tl.arange(0, COLS)[None, :]
    mask = row[:, None] < rows
    x = tl.load(x_ptr + at, mask=mask, other=0)
    tl.store(y_ptr + at, tl.sort(x, descending=DESCENDING), mask=mask)


@triton.jit
def topk_rows(x_ptr, y_ptr, rows, ROWS: tl.constexpr, COLS: tl.constexpr, K: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    mask = row[:, None] < rows
    x = tl.load(x_ptr + row[:, None].to(tl.int64) * COLS + tl.arange(0, COLS)[None, :], mask=mask, other=0)
    tl.store(y_ptr + row[:, None].to(tl.int64) * K + tl.arange(0, K)[None, :], tl.topk(x, K), mask=mask)
