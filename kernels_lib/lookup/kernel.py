"""Elements by index, and how often each index occurs: `gather_rows` permutes rows that fit a program,
`histogram` counts bytes or other small integers, a block a program, and adds the counts up by atomics."""
import triton
import triton.language as tl


@triton.jit
def gather_rows(x_ptr, index_ptr, y_ptr, rows, ROWS: tl.constexpr, COLS: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    at = row[:, None].to(tl.int64) * COLS + tl.arange(0, COLS)[None, :]
    mask = row[:, None] < rows
    x = tl.load(x_ptr + at, mask=mask, other=0)
    index = tl.load(index_ptr + at, mask=mask, other=0)
    tl.store(y_ptr + at, tl.gather(x, index, 1), mask=mask)


@triton.jit
def histogram(x_ptr, count_ptr, n, BINS: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask, other=0).to(tl.int32)
    counts = tl.histogram(x, BINS, mask=mask)
    tl.atomic_add(count_ptr + tl.arange(0, BINS), counts, sem="relaxed")
