# Builtins that are written in the language itself. The table builtins.def names them; a call
# expands like any jit function, but mistakes and line numbers are shown at the user's call.
import triton
import triton.language as tl
from triton.language.extra import libdevice


# ---- integers and program order ----


@triton.jit
def cdiv(x, div):
    return (x + div - 1) // div


@triton.jit
def swizzle2d(i, j, size_i, size_j, size_g):
    # Bands of size_g rows are walked column by column; the last band may be lower.
    linear = i * size_j + j
    band_size = size_g * size_j
    first_row = (linear // band_size) * size_g
    rows = tl.minimum(size_i - first_row, size_g)
    within = linear % band_size
    return first_row + within % rows, within // rows


# ---- element-wise ----


@triton.jit
def sigmoid(x):
    return 1 / (1 + tl.exp(-x))


@triton.jit
def softmax(x, dim: tl.constexpr, keep_dims: tl.constexpr, ieee_rounding: tl.constexpr):
    axis: tl.constexpr = 0 if dim is None else dim
    z = x - tl.max(x, axis, keep_dims=True)
    num = tl.exp(z)
    den = tl.sum(num, axis, keep_dims=True)
    return tl.fdiv(num, den, ieee_rounding)


# ---- shapes ----


@triton.jit
def first(a, b):
    return a


@triton.jit
def scalar_of(x):
    # The only element of a tile.
    return tl.reduce(tl.reshape(x, [x.numel]), 0, first)


@triton.jit
def interleave(a, b):
    c = tl.join(a, b)
    if len(c.shape) == 1:
        return c
    return tl.reshape(c, c.shape[:-2] + (2 * c.shape[-2],))


@triton.jit
def flip(x, dim: tl.constexpr):
    # Each bit of the index along dim is flipped: split into its halves and joined the other way.
    rank: tl.constexpr = len(x.shape)
    axis: tl.constexpr = rank - 1 if dim is None else (dim + rank if dim < 0 else dim)
    tl.static_assert(axis >= 0 and axis < rank, "flip: the dimension does not exist")
    bits: tl.constexpr = tl._log2(x.shape[axis])
    before: tl.constexpr = tl._log2(x.numel) - flip_bits_from(x.shape, axis)
    outer: tl.constexpr = 2**before
    inner: tl.constexpr = x.numel // (outer * x.shape[axis])
    y = x
    for bit in tl.static_range(bits):
        high: tl.constexpr = 2**bit
        low: tl.constexpr = x.shape[axis] // (2 * high)
        y = tl.permute(tl.reshape(y, [outer * high, 2, low * inner]), [0, 2, 1])
        a, b = tl.split(y)
        y = tl.permute(tl.join(b, a), [0, 2, 1])
    return tl.reshape(y, x.shape)


@triton.jit
def flip_bits_from(shape, axis: tl.constexpr):
    # log2 of the number of elements in dimension `axis` and those after it.
    if axis == len(shape):
        return 0
    if axis + 1 == len(shape):
        return tl._log2(shape[axis])
    if axis + 2 == len(shape):
        return tl._log2(shape[axis] * shape[axis + 1])
    if axis + 3 == len(shape):
        return tl._log2(shape[axis] * shape[axis + 1] * shape[axis + 2])
    if axis + 4 == len(shape):
        return tl._log2(shape[axis] * shape[axis + 1] * shape[axis + 2] * shape[axis + 3])
    return tl._log2(shape[axis] * shape[axis + 1] * shape[axis + 2] * shape[axis + 3] *
                    shape[axis + 4])


# ---- index reductions: the smaller index wins ties, a number wins against NaN ----


@triton.jit
def argmax_combine(v1, i1, v2, i2):
    left = (v1 > v2) | ((v1 == v2) & (i1 < i2))
    return tl.where(left, v1, v2), tl.where(left, i1, i2)


@triton.jit
def argmin_combine(v1, i1, v2, i2):
    left = (v1 < v2) | ((v1 == v2) & (i1 < i2))
    return tl.where(left, v1, v2), tl.where(left, i1, i2)


@triton.jit
def argmax_combine_float(v1, i1, v2, i2):
    nan1 = v1 != v1
    nan2 = v2 != v2
    tie = (v1 == v2) | (nan1 & nan2)
    left = (v1 > v2) | (nan2 & ~nan1) | (tie & (i1 < i2))
    return tl.where(left, v1, v2), tl.where(left, i1, i2)


@triton.jit
def argmin_combine_float(v1, i1, v2, i2):
    nan1 = v1 != v1
    nan2 = v2 != v2
    tie = (v1 == v2) | (nan1 & nan2)
    left = (v1 < v2) | (nan2 & ~nan1) | (tie & (i1 < i2))
    return tl.where(left, v1, v2), tl.where(left, i1, i2)


# ---- random numbers: Philox 4x32-10 (and 4x64), counter-based ----


@triton.jit
def philox_impl(c0, c1, c2, c3, k0, k1, n_rounds: tl.constexpr):
    wide: tl.constexpr = c0.dtype.primitive_bitwidth == 64
    # Weyl increments of the key and multipliers of the rounds (Salmon et al., SC 2011).
    key_a: tl.constexpr = 0x9E3779B97F4A7C15 if wide else 0x9E3779B9
    key_b: tl.constexpr = 0xBB67AE8584CAA73B if wide else 0xBB67AE85
    mul_a: tl.constexpr = 0xD2E7470EE14C6C93 if wide else 0xD2511F53
    mul_b: tl.constexpr = 0xCA5A826395121157 if wide else 0xCD9E8D57
    for _ in tl.static_range(n_rounds):
        old0 = c0
        old2 = c2
        c0 = tl.umulhi(mul_b, old2) ^ c1 ^ k0
        c2 = tl.umulhi(mul_a, old0) ^ c3 ^ k1
        c1 = old2 * mul_b
        c3 = old0 * mul_a
        k0 = k0 + key_a
        k1 = k1 + key_b
    return c0, c1, c2, c3


@triton.jit
def philox(seed, c0, c1, c2, c3, n_rounds: tl.constexpr):
    seed64 = tl.to_tensor(seed).to(tl.uint64)
    x0 = tl.to_tensor(c0)
    x1 = tl.to_tensor(c1)
    x2 = tl.to_tensor(c2)
    x3 = tl.to_tensor(c3)
    if x0.dtype.primitive_bitwidth == 32:
        return philox_impl(x0.to(tl.uint32), x1.to(tl.uint32), x2.to(tl.uint32),
                           x3.to(tl.uint32), (seed64 & 0xFFFFFFFF).to(tl.uint32),
                           (seed64 >> 32).to(tl.uint32), n_rounds)
    tl.static_assert(x0.dtype.primitive_bitwidth == 64, "philox counts in 32 or 64 bits")
    return philox_impl(x0.to(tl.uint64), x1.to(tl.uint64), x2.to(tl.uint64), x3.to(tl.uint64),
                       seed64, tl.full([], 0, tl.uint64), n_rounds)


@triton.jit
def randint4x(seed, offset, n_rounds: tl.constexpr):
    at = tl.to_tensor(offset)
    low = at.to(tl.uint32)
    zero = low * 0
    if at.dtype.primitive_bitwidth > 32:
        high = (at >> 32).to(tl.uint32)
    else:
        high = zero
    return philox(seed, low, high, zero, zero, n_rounds)


@triton.jit
def randint(seed, offset, n_rounds: tl.constexpr):
    word, _, _, _ = randint4x(seed, offset, n_rounds)
    return word


@triton.jit
def uint_to_uniform_float(x):
    # The sign bit is folded away, so the scale is just below 2^-31 (2^-63): the largest integer
    # times it stays below 1.
    if x.dtype.primitive_bitwidth == 32:
        bits = x.to(tl.int32, bitcast=True)
        return tl.where(bits < 0, -bits - 1, bits) * 4.6566127342e-10
    else:
        wide_bits = x.to(tl.int64, bitcast=True)
        return tl.where(wide_bits < 0, -wide_bits - 1, wide_bits) * 1.0842020432385337e-19


@triton.jit
def rand(seed, offset, n_rounds: tl.constexpr):
    return uint_to_uniform_float(randint(seed, offset, n_rounds))


@triton.jit
def rand4x(seed, offsets, n_rounds: tl.constexpr):
    i1, i2, i3, i4 = randint4x(seed, offsets, n_rounds)
    return (uint_to_uniform_float(i1), uint_to_uniform_float(i2), uint_to_uniform_float(i3),
            uint_to_uniform_float(i4))


@triton.jit
def pair_uniform_to_normal(u1, u2):
    # Box and Muller; the bound keeps the logarithm finite.
    bounded = tl.maximum(1.0e-7, u1)
    angle = 6.283185307179586 * u2
    radius = tl.sqrt(-2.0 * tl.log(bounded))
    return radius * tl.cos(angle), radius * tl.sin(angle)


@triton.jit
def randn(seed, offset, n_rounds: tl.constexpr):
    i1, i2, _, _ = randint4x(seed, offset, n_rounds)
    n1, _ = pair_uniform_to_normal(uint_to_uniform_float(i1), uint_to_uniform_float(i2))
    return n1


@triton.jit
def randn4x(seed, offset, n_rounds: tl.constexpr):
    u1, u2, u3, u4 = rand4x(seed, offset, n_rounds)
    n1, n2 = pair_uniform_to_normal(u1, u2)
    n3, n4 = pair_uniform_to_normal(u3, u4)
    return n1, n2, n3, n4


# ---- libdevice ----
# float32 functions without an op of their own go through float64 where that keeps them accurate.


@triton.jit
def pow(x, y):
    dtype: tl.constexpr = (tl.to_tensor(x) + tl.to_tensor(y)).dtype
    a = tl.to_tensor(x).to(tl.float64)
    b = tl.to_tensor(y).to(tl.float64)
    magnitude = tl.exp2(b * tl.log2(tl.abs(a)))
    whole = tl.floor(b) == b
    odd = whole & (tl.floor(b * 0.5) * 2.0 != b)
    signed = tl.where((a < 0.0) & odd, -magnitude, magnitude)
    defined = tl.where((a < 0.0) & ~whole, float("nan"), signed)
    one = (b == 0.0) | (a == 1.0) | ((a == -1.0) & (tl.abs(b) == float("inf")))
    return tl.where(one, 1.0, defined).to(dtype)


@triton.jit
def log1p_wide(w):
    # log(u) * w / (u - 1) with u = 1 + w rounded: the rounding errors of u cancel (Kahan).
    u = w + 1.0
    edge = (u == 1.0) | (u == float("inf"))
    return tl.where(edge, w, tl.log(u) * (w / (u - 1.0)))


@triton.jit
def log1p(x):
    return log1p_wide(x.to(tl.float64)).to(x.dtype)


@triton.jit
def expm1_wide(w):
    u = tl.exp(w)
    middle = (u - 1.0) * (w / tl.log(u))
    ends = tl.where(u == 1.0, w, u - 1.0)
    return tl.where((u == 1.0) | (u < 1.0e-17) | (u == float("inf")), ends, middle)


@triton.jit
def expm1(x):
    return expm1_wide(x.to(tl.float64)).to(x.dtype)


@triton.jit
def log10(x):
    return (tl.log2(x.to(tl.float64)) * 0.30102999566398119521).to(x.dtype)


@triton.jit
def exp10(x):
    return tl.exp2(x.to(tl.float64) * 3.32192809488736234787).to(x.dtype)


@triton.jit
def tan(x):
    wide = x.to(tl.float64)
    return (tl.sin(wide) / tl.cos(wide)).to(x.dtype)


@triton.jit
def sinh(x):
    w = tl.abs(x.to(tl.float64))
    t = expm1_wide(w)
    size = tl.where(t == float("inf"), t, (t + t / (t + 1.0)) * 0.5)
    return tl.where(x < 0.0, -size, size).to(x.dtype)


@triton.jit
def cosh(x):
    e = tl.exp(x.to(tl.float64))
    return ((e + 1.0 / e) * 0.5).to(x.dtype)


@triton.jit
def trunc(x):
    return tl.where(x < 0.0, tl.ceil(x), tl.floor(x))


@triton.jit
def round_half_away(x):
    # Through the magnitude: floor(|x| + 0.5) would round 0.49999997 up.
    magnitude = tl.abs(x)
    whole = tl.floor(magnitude)
    rounded = tl.where(magnitude - whole >= 0.5, whole + 1.0, whole)
    return tl.where(x < 0.0, -rounded, rounded)


@triton.jit
def round_half_even(x):
    low = tl.floor(x)
    part = x - low
    half = low * 0.5
    odd = tl.floor(half) != half
    up = (part > 0.5) | ((part == 0.5) & odd)
    return tl.where(up, low + 1.0, low)


@triton.jit
def isnan(x):
    return x != x


@triton.jit
def isinf(x):
    return tl.abs(x) == float("inf")


@triton.jit
def isfinite(x):
    return tl.abs(x) < float("inf")


@triton.jit
def rcp_rn(x):
    return tl.div_rn(1.0, x)


@triton.jit
def float_as_int(x):
    return x.to(tl.int32, bitcast=True)


@triton.jit
def int_as_float(x):
    return x.to(tl.float32, bitcast=True)


@triton.jit
def atan_wide(x):
    # Two halvings of the angle bring |t| below tan(pi/16); the series then ends at 1e-16.
    size = tl.abs(x)
    inverted = size > 1.0
    t = tl.where(inverted, 1.0 / size, size)
    t = t / (1.0 + tl.sqrt(1.0 + t * t))
    t = t / (1.0 + tl.sqrt(1.0 + t * t))
    s = t * t
    series = 1.0 / 21.0
    for i in tl.static_range(10):
        series = 1.0 / (19.0 - 2 * i) - s * series
    angle = 4.0 * t * series
    angle = tl.where(inverted, 1.5707963267948966 - angle, angle)
    return tl.where(x < 0.0, -angle, angle)


@triton.jit
def atan(x):
    return atan_wide(x.to(tl.float64)).to(x.dtype)


@triton.jit
def atan2(y, x):
    dtype: tl.constexpr = (tl.to_tensor(y) + tl.to_tensor(x)).dtype
    v = tl.to_tensor(y).to(tl.float64)
    u = tl.to_tensor(x).to(tl.float64)
    both_infinite = (tl.abs(u) == float("inf")) & (tl.abs(v) == float("inf"))
    ratio = tl.where(both_infinite, 1.0, tl.where((u == 0.0) & (v == 0.0), 0.0, tl.abs(v) / tl.abs(u)))
    angle = atan_wide(ratio)
    left = u.to(tl.int64, bitcast=True) < 0
    below = v.to(tl.int64, bitcast=True) < 0
    angle = tl.where(left, 3.141592653589793 - angle, angle)
    angle = tl.where(below, -angle, angle)
    return tl.where((u != u) | (v != v), float("nan"), angle).to(dtype)


@triton.jit
def asin_wide(x):
    return tl.where(tl.abs(x) > 1.0, float("nan"), atan_wide(x / tl.sqrt((1.0 - x) * (1.0 + x))))


@triton.jit
def asin(x):
    return asin_wide(x.to(tl.float64)).to(x.dtype)


@triton.jit
def acos(x):
    return (1.5707963267948966 - asin_wide(x.to(tl.float64))).to(x.dtype)


@triton.jit
def asinh(x):
    w = tl.abs(x.to(tl.float64))
    # 1e100 is beyond float32; squares stay finite below it.
    size = log1p_wide(tl.where(w < 1.0e100, w + w * w / (1.0 + tl.sqrt(w * w + 1.0)), w))
    return tl.where(x < 0.0, -size, size).to(x.dtype)


@triton.jit
def acosh(x):
    t = x.to(tl.float64) - 1.0
    return log1p_wide(tl.where(t < 1.0e100, t + tl.sqrt(t * (t + 2.0)), t)).to(x.dtype)


@triton.jit
def atanh(x):
    w = tl.abs(x.to(tl.float64))
    size = tl.where(w == 1.0, float("inf"), 0.5 * log1p_wide(2.0 * w / (1.0 - w)))
    return tl.where(x < 0.0, -size, size).to(x.dtype)


@triton.jit
def cbrt(x):
    w = tl.abs(x.to(tl.float64))
    size = tl.where(w == 0.0, 0.0, tl.exp2(tl.log2(w) / 3.0))
    return tl.where(x < 0.0, -size, size).to(x.dtype)


@triton.jit
def hypot(x, y):
    a = x.to(tl.float64)
    b = y.to(tl.float64)
    infinite = (tl.abs(a) == float("inf")) | (tl.abs(b) == float("inf"))
    return tl.where(infinite, float("inf"), tl.sqrt(a * a + b * b)).to(x.dtype)


@triton.jit
def fmod(x, y):
    return x % y


@triton.jit
def signbit(x):
    if x.dtype.primitive_bitwidth == 64:
        return (x.to(tl.int64, bitcast=True) < 0).to(tl.int32)
    else:
        return (x.to(tl.int32, bitcast=True) < 0).to(tl.int32)


@triton.jit
def llrint(x):
    return round_half_even(x).to(tl.int64)


@triton.jit
def popc(x):
    # Sums of bits in fields of 2, 4, 8, … bits.
    if x.dtype.primitive_bitwidth == 64:
        n = x.to(tl.uint64)
        n = n - ((n >> 1) & 0x5555555555555555)
        n = (n & 0x3333333333333333) + ((n >> 2) & 0x3333333333333333)
        n = (n + (n >> 4)) & 0x0F0F0F0F0F0F0F0F
        return ((n * 0x0101010101010101) >> 56).to(tl.int32)
    else:
        m = x.to(tl.uint32)
        m = m - ((m >> 1) & 0x55555555)
        m = (m & 0x33333333) + ((m >> 2) & 0x33333333)
        m = (m + (m >> 4)) & 0x0F0F0F0F
        return ((m * 0x01010101) >> 24).to(tl.int32)


@triton.jit
def ffs(x):
    # 1 + the number of zeros below the lowest set bit; 0 for 0.
    return tl.where(x == 0, 0, popc(x ^ (x - 1)))


@triton.jit
def clz(x):
    bits: tl.constexpr = x.dtype.primitive_bitwidth
    n = x.to(tl.get_int_dtype(bits, False))
    for i in tl.static_range(tl._log2(bits)):
        n = n | (n >> 2**i)
    return bits - popc(n)


# ---- what TorchInductor's kernels import as triton_helpers ----
# Comparisons there follow PyTorch: NaN wins in maximum and minimum.


@triton.jit
def helper_maximum(a, b):
    left = a > b
    if a.dtype.is_floating():
        left = left | (a != a)
    return tl.where(left, a, b)


@triton.jit
def helper_minimum(a, b):
    left = a < b
    if a.dtype.is_floating():
        left = left | (a != a)
    return tl.where(left, a, b)


@triton.jit
def helper_max2(a, dim: tl.constexpr):
    return tl.reduce(a, dim, helper_maximum)


@triton.jit
def helper_min2(a, dim: tl.constexpr):
    return tl.reduce(a, dim, helper_minimum)


@triton.jit
def either(a, b):
    return a | b


@triton.jit
def helper_any(a, dim: tl.constexpr):
    return tl.reduce(a, dim, either)


@triton.jit
def product(a, b):
    return a * b


@triton.jit
def helper_prod(a, dim: tl.constexpr):
    return tl.reduce(a, dim, product)


@triton.jit
def helper_div_floor_integer(a, b):
    quotient = a // b
    inexact = a % b != 0
    return tl.where(inexact & ((a < 0) != (b < 0)), quotient - 1, quotient)


@triton.jit
def helper_remainder_integer(a, b):
    rest = a % b
    return tl.where((rest != 0) & ((a < 0) != (b < 0)), rest + b, rest)


@triton.jit
def helper_promote_to_tensor(x):
    return x + tl.zeros((1,), tl.int1)


@triton.jit
def helper_welford_reduce(value, mean, m2, weight, first_iteration):
    if first_iteration:
        new_weight = tl.full(weight.shape, 1, weight.dtype)
        new_mean = value
        new_m2 = tl.zeros_like(m2)
    else:
        delta = value - mean
        new_weight = weight + 1
        new_mean = mean + delta / new_weight
        new_m2 = m2 + delta * (value - new_mean)
    return new_mean, new_m2, new_weight


@triton.jit
def helper_welford_combine(mean1, m2_1, weight1, mean2, m2_2, weight2):
    delta = mean2 - mean1
    weight = weight1 + weight2
    share = tl.where(weight == 0.0, 0.0, weight2 / weight)
    return mean1 + delta * share, m2_1 + m2_2 + delta * delta * weight1 * share, weight


@triton.jit
def helper_welford(mean, m2, weight, dim: tl.constexpr):
    return tl.reduce((mean, m2, weight), dim, helper_welford_combine)


@triton.jit
def maximum_with_index(v1, i1, v2, i2):
    left = v1 > v2
    tie = v1 == v2
    if v1.dtype.is_floating():
        nan1 = v1 != v1
        nan2 = v2 != v2
        left = left | (nan1 & ~nan2)
        tie = tie | (nan1 & nan2)
    left = left | (tie & (i1 < i2))
    return tl.where(left, v1, v2), tl.where(left, i1, i2)


@triton.jit
def minimum_with_index(v1, i1, v2, i2):
    left = v1 < v2
    tie = v1 == v2
    if v1.dtype.is_floating():
        nan1 = v1 != v1
        nan2 = v2 != v2
        left = left | (nan1 & ~nan2)
        tie = tie | (nan1 & nan2)
    left = left | (tie & (i1 < i2))
    return tl.where(left, v1, v2), tl.where(left, i1, i2)


@triton.jit
def helper_max_with_index(value, index, dim: tl.constexpr):
    return tl.reduce((value, index), dim, maximum_with_index)


@triton.jit
def helper_min_with_index(value, index, dim: tl.constexpr):
    return tl.reduce((value, index), dim, minimum_with_index)


# ---- matrix products of packed, scaled and sparse operands ----


@triton.jit
def e8m0_to_float(s):
    # 2^(s - 127); 0 is a subnormal of float32, 255 is NaN.
    byte = s.to(tl.uint8, bitcast=True).to(tl.uint32)
    bits = tl.where(byte == 0, 0x400000, tl.where(byte == 255, 0x7FC00000, byte << 23))
    return bits.to(tl.uint32).to(tl.float32, bitcast=True)


@triton.jit
def e2m1_to_float(x):
    # Sign, exponent and fraction in the places of float32's, short of 2^126.
    code = x.to(tl.uint32)
    bits = ((code & 8) << 28) | ((code & 7) << 22)
    return bits.to(tl.float32, bitcast=True) * 8.507059173023462e37


@triton.jit
def scaled_operand(x, scale, format: tl.constexpr, k_pack: tl.constexpr):
    # An operand with K as the last dimension, in float32 (exact), times the scale of each 32 of K.
    if format == "e2m1":
        code = x.to(tl.uint8, bitcast=True)
        if k_pack:
            code = tl.interleave(code & 15, code >> 4)
        else:
            packed = tl.trans(code)
            code = tl.trans(tl.interleave(packed & 15, packed >> 4))
        wide = e2m1_to_float(code)
    elif format == "e4m3":
        wide = x.to(tl.float8e4nv, bitcast=True).to(tl.float32)
    elif format == "e5m2":
        wide = x.to(tl.float8e5, bitcast=True).to(tl.float32)
    else:
        tl.static_assert(format == "bf16" or format == "fp16", "dot_scaled: formats are e2m1, e4m3, e5m2, bf16 and fp16")
        wide = x.to(tl.float32)
    if scale is None:
        return wide
    rows: tl.constexpr = scale.shape[:-1]
    groups: tl.constexpr = scale.shape[-1]
    tl.static_assert(groups * 32 == wide.shape[-1], "dot_scaled: one scale goes with 32 values along K")
    each = tl.broadcast_to(tl.expand_dims(e8m0_to_float(scale), -1), rows + (groups, 32))
    return wide * tl.reshape(each, wide.shape)


@triton.jit
def dot_scaled(lhs, lhs_scale, lhs_format: tl.constexpr, rhs, rhs_scale, rhs_format: tl.constexpr, acc,
               fast_math: tl.constexpr, lhs_k_pack: tl.constexpr, rhs_k_pack: tl.constexpr, out_dtype: tl.constexpr):
    a = scaled_operand(lhs, lhs_scale, lhs_format, lhs_k_pack)
    b = tl.trans(scaled_operand(tl.trans(rhs), rhs_scale, rhs_format, rhs_k_pack))
    # A scaled float16 keeps its 11 bits in TF32; all other formats fit bfloat16 (but for underflow).
    half: tl.constexpr = lhs_format == "fp16" or rhs_format == "fp16"
    c = tl.dot(a, b, acc) if half else tl.dot(a.to(tl.bfloat16), b.to(tl.bfloat16), acc)
    return c if out_dtype is None else c.to(out_dtype)
