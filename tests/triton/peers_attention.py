"""Attention forward whose heads of keys and values are shared by groups of query heads; full or causal, output only."""
import triton
import triton.language as tl


@triton.jit
def grouped_attention(
    q_ptr, k_ptr, v_ptr, o_ptr, scale,
    stride_qb, stride_qh, stride_qm, stride_kb, stride_kh, stride_kn,
    heads, group, queries, keys,
    HEAD_DIM: tl.constexpr, CAUSAL: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):
    tile = tl.program_id(0)
    batch = (tl.program_id(1) // heads).to(tl.int64)
    head = tl.program_id(1) % heads
    query_base = batch * stride_qb + head.to(tl.int64) * stride_qh
    key_base = batch * stride_kb + (head // group).to(tl.int64) * stride_kh
    rows = tile * BLOCK_M + tl.arange(0, BLOCK_M)
    dims = tl.arange(0, HEAD_DIM)
    q = tl.load(q_ptr + query_base + rows[:, None] * stride_qm + dims[None, :], mask=rows[:, None] < queries, other=0.0)
    top = tl.full([BLOCK_M], float("-inf"), tl.float32)
    total = tl.zeros([BLOCK_M], tl.float32)
    acc = tl.zeros([BLOCK_M, HEAD_DIM], tl.float32)
    end = min((tile + 1) * BLOCK_M, keys) if CAUSAL else keys
    for start in range(0, end, BLOCK_N):
        cols = start + tl.arange(0, BLOCK_N)
        k = tl.load(k_ptr + key_base + cols[None, :] * stride_kn + dims[:, None], mask=cols[None, :] < keys, other=0.0)
        scores = tl.dot(q, k) * (scale * 1.4426950408889634)
        valid = cols[None, :] < keys
        if CAUSAL:
            valid = valid & (rows[:, None] >= cols[None, :])
        scores = tl.where(valid, scores, float("-inf"))
        new_top = tl.maximum(top, tl.max(scores, 1))
        p = tl.exp2(scores - new_top[:, None])
        shrink = tl.exp2(top - new_top)
        total = total * shrink + tl.sum(p, 1)
        v = tl.load(v_ptr + key_base + cols[:, None] * stride_kn + dims[None, :], mask=cols[:, None] < keys, other=0.0)
        acc = tl.dot(p.to(v.dtype), v, acc * shrink[:, None])
        top = new_top
    acc = acc / total[:, None]
    tl.store(o_ptr + query_base + rows[:, None] * stride_qm + dims[None, :], acc.to(o_ptr.dtype.element_ty),
             mask=rows[:, None] < queries)
