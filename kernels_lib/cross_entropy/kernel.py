"""Cross-entropy of logits against class indices, forward and backward, for vocabularies of any width.

Forward reads a row once: each column of a LANES-wide strip keeps its own running maximum and sum (rescaled
once a BLOCK, not once an element), and the strips meet at the end. Rows whose target is `ignore` give 0.
"""
import triton
import triton.language as tl


@triton.jit
def cross_entropy_forward(
    logits_ptr, target_ptr, loss_ptr, lse_ptr, stride, cols, ignore, STEPS: tl.constexpr, LANES: tl.constexpr
):
    row = tl.program_id(0)
    logits_ptr += row.to(tl.int64) * stride
    target = tl.load(target_ptr + row)
    # Below every logit, and finite: the difference of two of them is 0.
    top = tl.full([LANES], -3.0e38, dtype=tl.float32)
    total = tl.zeros([LANES], dtype=tl.float32)
    within = tl.arange(0, STEPS)[:, None] * LANES + tl.arange(0, LANES)[None, :]
    for start in range(0, cols, STEPS * LANES):
        offsets = start + within
        x = tl.load(logits_ptr + offsets, mask=offsets < cols, other=-float("inf")).to(tl.float32)
        new_top = tl.maximum(top, tl.max(x, axis=0))
        total = total * tl.exp(top - new_top) + tl.sum(tl.exp(x - new_top[None, :]), axis=0)
        top = new_top
    row_top = tl.max(top, axis=0)
    lse = row_top + tl.log(tl.sum(total * tl.exp(top - row_top), axis=0))
    tl.store(lse_ptr + row, lse)
    if target == ignore:
        tl.store(loss_ptr + row, 0.0)
    else:
        tl.store(loss_ptr + row, lse - tl.load(logits_ptr + target).to(tl.float32))


@triton.jit
def cross_entropy_backward(
    dlogits_ptr, dloss_ptr, logits_ptr, target_ptr, lse_ptr, stride, cols, ignore, BLOCK: tl.constexpr
):
    row = tl.program_id(0)
    base = row.to(tl.int64) * stride
    offsets = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < cols
    target = tl.load(target_ptr + row)
    lse = tl.load(lse_ptr + row)
    scale = tl.load(dloss_ptr + row)
    scale = tl.where(target == ignore, 0.0, scale)
    x = tl.load(logits_ptr + base + offsets, mask=mask, other=0.0).to(tl.float32)
    p = tl.exp(x - lse)
    d = tl.where(offsets == target, p - 1.0, p) * scale
    tl.store(dlogits_ptr + base + offsets, d.to(dlogits_ptr.dtype.element_ty), mask=mask)
