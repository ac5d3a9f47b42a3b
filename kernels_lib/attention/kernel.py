"""Fused attention forward, one program a tile of queries: softmax(q kᵀ · scale) v, causal or full.

Tensors are [batch, heads, length, HEAD_DIM] with unit stride along HEAD_DIM. The softmax runs online in base 2.
"""
import triton
import triton.language as tl


@triton.jit
def attend(acc, total, top, q, k_ptr, v_ptr, stride_kn, stride_vn, start, rows, length, scale,
           BLOCK_N: tl.constexpr, HEAD_DIM: tl.constexpr, CAUSAL: tl.constexpr):
    cols = start + tl.arange(0, BLOCK_N)
    dims = tl.arange(0, HEAD_DIM)
    k = tl.load(k_ptr + cols[None, :] * stride_kn + dims[:, None], mask=cols[None, :] < length, other=0.0)
    scores = tl.dot(q, k) * scale
    valid = cols[None, :] < length
    if CAUSAL:
        valid = valid & (rows[:, None] >= cols[None, :])
    scores = tl.where(valid, scores, -1.0e30)
    new_top = tl.maximum(top, tl.max(scores, 1))
    p = tl.exp2(scores - new_top[:, None])
    shrink = tl.exp2(top - new_top)
    total = total * shrink + tl.sum(p, 1)
    acc = acc * shrink[:, None]
    v = tl.load(v_ptr + cols[:, None] * stride_vn + dims[None, :], mask=cols[:, None] < length, other=0.0)
    acc = tl.dot(p.to(v.dtype), v, acc)
    return acc, total, new_top


@triton.jit
def attention(
    q_ptr, k_ptr, v_ptr, o_ptr, lse_ptr,
    stride_qb, stride_qh, stride_qm,
    stride_kb, stride_kh, stride_kn,
    stride_vb, stride_vh, stride_vn,
    stride_ob, stride_oh, stride_om,
    heads, length, scale,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, HEAD_DIM: tl.constexpr, CAUSAL: tl.constexpr,
):
    tile = tl.program_id(0)
    batch = (tl.program_id(1) // heads).to(tl.int64)
    head = (tl.program_id(1) % heads).to(tl.int64)
    q_ptr += batch * stride_qb + head * stride_qh
    k_ptr += batch * stride_kb + head * stride_kh
    v_ptr += batch * stride_vb + head * stride_vh
    o_ptr += batch * stride_ob + head * stride_oh

    rows = tile * BLOCK_M + tl.arange(0, BLOCK_M)
    dims = tl.arange(0, HEAD_DIM)
    q = tl.load(q_ptr + rows[:, None] * stride_qm + dims[None, :], mask=rows[:, None] < length, other=0.0)
    acc = tl.zeros([BLOCK_M, HEAD_DIM], dtype=tl.float32)
    total = tl.zeros([BLOCK_M], dtype=tl.float32)
    top = tl.full([BLOCK_M], -1.0e30, dtype=tl.float32)
    log2_scale = scale * 1.4426950408889634

    if CAUSAL:
        end = min((tile + 1) * BLOCK_M, length)
    else:
        end = length
    for start in range(0, end, BLOCK_N):
        acc, total, top = attend(acc, total, top, q, k_ptr, v_ptr, stride_kn, stride_vn, start, rows, length,
                                 log2_scale, BLOCK_N, HEAD_DIM, CAUSAL)

    acc = acc / total[:, None]
    tl.store(o_ptr + rows[:, None] * stride_om + dims[None, :], acc.to(o_ptr.dtype.element_ty),
             mask=rows[:, None] < length)
    lse = (top + tl.log2(total)) * 0.6931471805599453
    tl.store(lse_ptr + tl.program_id(1) * length + rows, lse, mask=rows < length)
