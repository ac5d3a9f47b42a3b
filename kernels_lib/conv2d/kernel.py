"""2-D convolution as implicit GEMM: NHWC input, KRSC filters, NHWC output, fused bias.

The GEMM has M = batch * out_h * out_w rows, N = filters columns, and a K loop over (r, s, channel block).
"""
import triton
import triton.language as tl


@triton.jit
def conv2d(
    x_ptr, w_ptr, bias_ptr, y_ptr,
    batch, height, width, channels, filters,
    out_h, out_w,
    stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w,
    R: tl.constexpr, S: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):
    pixel = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    filter = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    image = pixel // (out_h * out_w)
    out_y = (pixel // out_w) % out_h
    out_x = pixel % out_w
    top = out_y * stride_h - pad_h
    left = out_x * stride_w - pad_w
    pixel_ok = image < batch
    filter_ok = filter < filters

    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for r in range(R):
        in_y = top + r * dilation_h
        for s in range(S):
            in_x = left + s * dilation_w
            inside = pixel_ok & (in_y >= 0) & (in_y < height) & (in_x >= 0) & (in_x < width)
            x_row = ((image.to(tl.int64) * height + in_y) * width + in_x) * channels
            w_row = ((filter.to(tl.int64) * R + r) * S + s) * channels
            for start in range(0, channels, BLOCK_K):
                c = start + tl.arange(0, BLOCK_K)
                x = tl.load(x_ptr + x_row[:, None] + c[None, :],
                            mask=inside[:, None] & (c[None, :] < channels), other=0.0)
                w = tl.load(w_ptr + w_row[None, :] + c[:, None],
                            mask=filter_ok[None, :] & (c[:, None] < channels), other=0.0)
                acc = tl.dot(x, w, acc)
    if bias_ptr is not None:
        bias = tl.load(bias_ptr + filter, mask=filter_ok, other=0.0)
        acc += bias.to(tl.float32)[None, :]
    y_ptrs = y_ptr + pixel.to(tl.int64)[:, None] * filters + filter[None, :]
    tl.store(y_ptrs, acc.to(y_ptr.dtype.element_ty), mask=pixel_ok[:, None] & filter_ok[None, :])
