// Prelude, part 3 of 3: the numerics contract (dsl/LANGUAGE.md) in plain C++ on top of the machine's
// intrinsics. The same text serves the GPU and the emulator.

// ---- kinds of types ------------------------------------------------------------------------------
template <class T> struct tw_kind {  // integers
  static constexpr bool narrow = false, real = false, is_signed = T(-1) < T(0);
  static constexpr int width = 8 * sizeof(T);
};
template <> struct tw_kind<bool> { static constexpr bool narrow = false, real = false, is_signed = false; static constexpr int width = 1; };
template <> struct tw_kind<f32> { static constexpr bool narrow = false, real = true; };
template <> struct tw_kind<f64> { static constexpr bool narrow = false, real = true; };
template <> struct tw_kind<f16> { static constexpr bool narrow = true, real = true; };
template <> struct tw_kind<bf16> { static constexpr bool narrow = true, real = true; };
template <> struct tw_kind<f8e4m3> { static constexpr bool narrow = true, real = true; };
template <> struct tw_kind<f8e5m2> { static constexpr bool narrow = true, real = true; };

// ---- threads -------------------------------------------------------------------------------------
TW_DEVICE u32 tw_lane() { return tw_thread_id() & 31; }
TW_DEVICE u32 tw_warp() { return tw_thread_id() >> 5; }

// Warp: the value that lane `lane` passes.
template <class T>
TW_DEVICE T tw_shfl(T v, u32 lane TW_AT) {
  if constexpr (sizeof(T) == 8) {
    u64 bits = tw_bitcast<u64>(v);
    u32 low = tw_shfl_b32((u32)bits, lane TW_HERE), high = tw_shfl_b32((u32)(bits >> 32), lane TW_HERE);
    return tw_bitcast<T>((u64)high << 32 | low);
  } else {
    return tw_bitcast<T>((tw_bits_of<T>)tw_shfl_b32(tw_bitcast<tw_bits_of<T>>(v), lane TW_HERE));
  }
}
// Warp: the value that lane (own lane ^ mask) passes.
template <class T>
TW_DEVICE T tw_shfl_xor(T v, u32 mask TW_AT) {
  if constexpr (sizeof(T) == 8) {
    u64 bits = tw_bitcast<u64>(v);
    u32 low = tw_shfl_xor_b32((u32)bits, mask TW_HERE), high = tw_shfl_xor_b32((u32)(bits >> 32), mask TW_HERE);
    return tw_bitcast<T>((u64)high << 32 | low);
  } else {
    return tw_bitcast<T>((tw_bits_of<T>)tw_shfl_xor_b32(tw_bitcast<tw_bits_of<T>>(v), mask TW_HERE));
  }
}

// ---- pairs of 16-bit values in a word ------------------------------------------------------------
template <class T>
TW_DEVICE u32 tw_pair(T low, T high) { return tw_pack_b16(tw_bitcast<u16>(low), tw_bitcast<u16>(high)); }
// v[0] and v[1] become the halves of a word.
template <class T>
TW_DEVICE void tw_unpair(T* v, u32 pair) {
  v[0] = tw_bitcast<T>((u16)pair);
  v[1] = tw_bitcast<T>((u16)(pair >> 16));
}
// Halves shifted by less than 16.
TW_DEVICE u32 tw_shl_x2(u32 pair, u32 by) { return pair << by & (0xffffu << by & 0xffffu) * 0x10001u; }
// Two bytes, zero-extended.
TW_DEVICE u32 tw_widen_bytes(u8 low, u8 high) { return tw_select_bytes((u32)low | (u32)high << 8, 0, 0x4140); }

// ---- vectors of N values as 32-bit words ---------------------------------------------------------
template <int N, class T>
TW_DEVICE void tw_to_words(u32* w, const T* v) {
  if constexpr (sizeof(T) == 8) {
    TW_EACH(i, N) {
      u64 bits = tw_bitcast<u64>(v[i]);
      w[2 * i] = (u32)bits;
      w[2 * i + 1] = (u32)(bits >> 32);
    }
  } else if constexpr (sizeof(T) == 4) {
    TW_EACH(i, N) w[i] = tw_bitcast<u32>(v[i]);
  } else if constexpr (N == 1) {
    w[0] = tw_bitcast<tw_bits_of<T>>(v[0]);
  } else if constexpr (sizeof(T) == 2) {
    TW_EACH(i, N / 2) w[i] = tw_pack_b16(tw_bitcast<u16>(v[2 * i]), tw_bitcast<u16>(v[2 * i + 1]));
  } else if constexpr (N == 2) {
    w[0] = (u32)tw_bitcast<u8>(v[0]) | (u32)tw_bitcast<u8>(v[1]) << 8;
  } else {
    TW_EACH(i, N / 4)
      w[i] = tw_pack_b8(tw_bitcast<u8>(v[4 * i]), tw_bitcast<u8>(v[4 * i + 1]), tw_bitcast<u8>(v[4 * i + 2]),
                        tw_bitcast<u8>(v[4 * i + 3]));
  }
}
template <class T>
TW_DEVICE T tw_from_bits(tw_bits_of<T> bits) {
  if constexpr (tw_is<T, bool>::value) return bits != 0;
  else return tw_bitcast<T>(bits);
}
template <int N, class T>
TW_DEVICE void tw_from_words(T* v, const u32* w) {
  if constexpr (sizeof(T) == 8) {
    TW_EACH(i, N) v[i] = tw_bitcast<T>((u64)w[2 * i + 1] << 32 | w[2 * i]);
  } else if constexpr (sizeof(T) == 4) {
    TW_EACH(i, N) v[i] = tw_bitcast<T>(w[i]);
  } else if constexpr (sizeof(T) == 2) {
    TW_EACH(i, N) v[i] = tw_bitcast<T>((u16)(w[i / 2] >> i % 2 * 16));
  } else {
    TW_EACH(i, N) v[i] = tw_from_bits<T>((u8)(w[i / 4] >> i % 4 * 8));
  }
}

// x and y hold rows 0, 1 and rows 2, 3 of two columns of bytes (column 0 and 1 of a row side by side):
// afterwards x is column 0 and y column 1.
TW_DEVICE void tw_unpair_bytes(u32& x, u32& y) {
  u32 column = tw_select_bytes(x, y, 0x6420);
  y = tw_select_bytes(x, y, 0x7531);
  x = column;
}

// Moves N values (N * size is 1, 2, 4, 8 or 16 bytes) between registers and shared memory.
template <int N, class T>
TW_DEVICE void tw_shared_load(T* v, u32 offset TW_AT) {
  constexpr int bytes = N * (int)sizeof(T);
  u32 w[bytes < 4 ? 1 : bytes / 4];
  if constexpr (bytes == 1) tw_shared_load_b8(w[0], offset TW_HERE);
  if constexpr (bytes == 2) tw_shared_load_b16(w[0], offset TW_HERE);
  if constexpr (bytes == 4) tw_shared_load_b32(w[0], offset TW_HERE);
  if constexpr (bytes == 8) tw_shared_load_b64(w, offset TW_HERE);
  if constexpr (bytes == 16) tw_shared_load_b128(w, offset TW_HERE);
  tw_from_words<N>(v, w);
}
template <int N, class T>
TW_DEVICE void tw_shared_store(u32 offset, const T* v TW_AT) {
  constexpr int bytes = N * (int)sizeof(T);
  u32 w[bytes < 4 ? 1 : bytes / 4];
  tw_to_words<N>(w, v);
  if constexpr (bytes == 1) tw_shared_store_b8(offset, w[0] TW_HERE);
  if constexpr (bytes == 2) tw_shared_store_b16(offset, w[0] TW_HERE);
  if constexpr (bytes == 4) tw_shared_store_b32(offset, w[0] TW_HERE);
  if constexpr (bytes == 8) tw_shared_store_b64(offset, w TW_HERE);
  if constexpr (bytes == 16) tw_shared_store_b128(offset, w TW_HERE);
}
// The same for global memory. `mask` false: nothing happens, v keeps its values.
template <int N, int Hint = TW_PLAIN, class T>
TW_DEVICE void tw_load(T* v, u64 address TW_AT) {
  constexpr int bytes = N * (int)sizeof(T);
  u32 w[bytes < 4 ? 1 : bytes / 4];
  tw_global_load<bytes, Hint>(w, address TW_HERE);
  tw_from_words<N>(v, w);
}
template <int N, int Hint = TW_PLAIN, class T>
TW_DEVICE void tw_load_if(T* v, u64 address, bool mask TW_AT) {
  constexpr int bytes = N * (int)sizeof(T);
  u32 w[bytes < 4 ? 1 : bytes / 4];
  tw_to_words<N>(w, v);
  tw_global_load_if<bytes, Hint>(w, address, mask TW_HERE);
  tw_from_words<N>(v, w);
}
template <int N, int Hint = TW_PLAIN, class T>
TW_DEVICE void tw_store_if(u64 address, const T* v, bool mask TW_AT) {
  constexpr int bytes = N * (int)sizeof(T);
  u32 w[bytes < 4 ? 1 : bytes / 4];
  tw_to_words<N>(w, v);
  tw_global_store_if<bytes, Hint>(address, w, mask TW_HERE);
}
template <int N, int Hint = TW_PLAIN, class T>
TW_DEVICE void tw_store(u64 address, const T* v TW_AT) { tw_store_if<N, Hint>(address, v, true TW_HERE); }

// ---- conversions ---------------------------------------------------------------------------------
TW_DEVICE f32 tw_f32(f8e5m2 x) { return tw_f32(f16{(u16)(x.bits << 8)}); }
TW_DEVICE f32 tw_f32(f8e4m3 x) {
  // The exponent and fraction under f32's bias are too small by 2^120; NaN is all ones.
  u32 sign = (u32)(x.bits & 0x80) << 24, magnitude = x.bits & 0x7f;
  f32 value = tw_bitcast<f32>(magnitude << 20) * 1.329227995784916e36f;
  return tw_bitcast<f32>(sign | (magnitude == 0x7f ? 0x7fc00000u : tw_bitcast<u32>(value)));
}
TW_DEVICE bf16 tw_bf16_rtz(f32 x) { return bf16{(u16)(x != x ? 0x7fff : tw_bitcast<u32>(x) >> 16)}; }

// f32 to an 8-bit float with Fraction bits of fraction and exponent bias Bias; MaxBits is the image
// of the largest finite value as f32, Nan the magnitude of NaN.
template <int Fraction, int Bias, u32 MaxBits, u8 Nan, bool TowardZero>
TW_DEVICE u8 tw_round_f8(f32 x) {
  constexpr int drop = 23 - Fraction;
  u32 bits = tw_bitcast<u32>(x), sign = bits >> 24 & 0x80, magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return (u8)(sign | Nan);
  if (magnitude > MaxBits) magnitude = MaxBits;
  u32 rounded;
  if (magnitude >= (u32)(128 - Bias) << 23) {
    u32 up = TowardZero ? 0 : (1u << (drop - 1)) - 1 + (magnitude >> drop & 1);
    rounded = ((magnitude + up) >> drop) - ((u32)(127 - Bias) << Fraction);
  } else {
    // Subnormal: adding a power of two whose last place is the smallest subnormal rounds to nearest even.
    f32 value = tw_bitcast<f32>(magnitude);
    u32 anchor = (u32)(127 + 24 - Bias - Fraction) << 23;
    f32 sum = value + tw_bitcast<f32>(anchor);
    rounded = tw_bitcast<u32>(sum) - anchor;
    if (TowardZero && sum - tw_bitcast<f32>(anchor) > value) --rounded;
  }
  return (u8)(sign | rounded);
}
TW_DEVICE f8e4m3 tw_f8e4m3(f32 x) {
#ifdef TW_HAS_FP8_CVT
  return f8e4m3{tw_cvt_f8e4m3(x)};
#else
  return f8e4m3{tw_round_f8<3, 7, 0x43e00000u, 0x7f, false>(x)};
#endif
}
TW_DEVICE f8e5m2 tw_f8e5m2(f32 x) {
#ifdef TW_HAS_FP8_CVT
  return f8e5m2{tw_cvt_f8e5m2(x)};
#else
  return f8e5m2{tw_round_f8<2, 15, 0x47600000u, 0x7e, false>(x)};
#endif
}

// f32 to a narrow float, nearest even or toward zero.
template <class To, bool TowardZero = false>
TW_DEVICE To tw_narrow(f32 x) {
  if constexpr (tw_is<To, f16>::value) {
    if constexpr (TowardZero) return tw_f16_rtz(x);
    else return tw_f16(x);
  } else if constexpr (tw_is<To, bf16>::value) {
    if constexpr (TowardZero) return tw_bf16_rtz(x);
    else return tw_bf16(x);
  } else if constexpr (tw_is<To, f8e4m3>::value) {
    if constexpr (TowardZero) return f8e4m3{tw_round_f8<3, 7, 0x43e00000u, 0x7f, true>(x)};
    else return tw_f8e4m3(x);
  } else {
    if constexpr (TowardZero) return f8e5m2{tw_round_f8<2, 15, 0x47600000u, 0x7e, true>(x)};
    else return tw_f8e5m2(x);
  }
}
// f64 to f32 with the last bit sticky, so that a second rounding is right.
TW_DEVICE f32 tw_round_to_odd(f64 x) {
  f32 r = tw_f32_rtz(x);
  return x == x && (f64)r != x ? tw_bitcast<f32>(tw_bitcast<u32>(r) | 1) : r;
}
// Float to integer: toward zero, saturating, NaN gives 0.
template <class To, class From>
TW_DEVICE To tw_to_int(From x) {
  if (x != x) return 0;
  if constexpr (sizeof(To) < 4) {
    constexpr i32 low = tw_kind<To>::is_signed ? -(1 << (8 * sizeof(To) - 1)) : 0;
    constexpr i32 high = (1 << (8 * sizeof(To) - (tw_kind<To>::is_signed ? 1 : 0))) - 1;
    i32 wide = tw_cvt_i32(x);
    return (To)(wide < low ? low : wide > high ? high : wide);
  } else if constexpr (tw_is<To, i32>::value) {
    return tw_cvt_i32(x);
  } else if constexpr (tw_is<To, u32>::value) {
    return tw_cvt_u32(x);
  } else if constexpr (tw_is<To, i64>::value) {
    return tw_cvt_i64(x);
  } else {
    return tw_cvt_u64(x);
  }
}
// Bytes to floats, exact, without the conversion unit: under 2^23 (f32) or 2^10 (f16) an integer is
// the fraction.
template <class T> struct tw_is_byte { static constexpr bool value = tw_is<T, i8>::value || tw_is<T, u8>::value; };
template <class From>
TW_DEVICE f32 tw_byte_to_f32(From x) {
  constexpr u32 sign = tw_kind<From>::is_signed ? 0x80 : 0;
  return tw_bitcast<f32>(0x4b000000u | ((u32)(u8)x ^ sign)) - (f32)(0x800000u + sign);
}
template <class From>
TW_DEVICE f16 tw_byte_to_f16(From x) {
  constexpr u32 sign = tw_kind<From>::is_signed ? 0x80 : 0;
  return f16{(u16)tw_add_f16x2(0x6400u | ((u32)(u8)x ^ sign), 0xe400u + sign)};
}
// Any numeric conversion of `cast`.
template <class To, bool TowardZero = false, class From>
TW_DEVICE To tw_cast(From x) {
  if constexpr (tw_is<To, From>::value) {
    return x;
  } else if constexpr (tw_kind<From>::narrow) {
    if constexpr (tw_is<To, f32>::value) return tw_f32(x);
    else return tw_cast<To, TowardZero>(tw_f32(x));
  } else if constexpr (tw_is<To, bool>::value) {
    return x != 0;
  } else if constexpr (tw_kind<To>::narrow) {
    if constexpr (tw_is<From, f64>::value) return tw_narrow<To, TowardZero>(tw_round_to_odd(x));
    else if constexpr (tw_is_byte<From>::value && tw_is<To, f16>::value) return tw_byte_to_f16(x);
    else if constexpr (tw_is_byte<From>::value && tw_is<To, bf16>::value) return bf16{(u16)(tw_bitcast<u32>(tw_byte_to_f32(x)) >> 16)};
    else return tw_narrow<To, TowardZero>((f32)x);
  } else if constexpr (tw_kind<From>::real && !tw_kind<To>::real) {
    return tw_to_int<To>(x);
  } else if constexpr (tw_is<From, f64>::value && TowardZero) {
    return tw_f32_rtz(x);
  } else if constexpr (tw_is<To, f32>::value && tw_is_byte<From>::value) {
    return tw_byte_to_f32(x);
  } else {
    return (To)x;
  }
}
template <class To, class From>
TW_DEVICE To tw_cast_rtz(From x) { return tw_cast<To, true>(x); }

// ---- arithmetic of f16 and bf16: in f32, rounded once --------------------------------------------
#define TW_NARROW_OPERATORS(T)                                                                   \
  TW_DEVICE T operator+(T a, T b) { return tw_narrow<T>(tw_f32(a) + tw_f32(b)); }                \
  TW_DEVICE T operator-(T a, T b) { return tw_narrow<T>(tw_f32(a) - tw_f32(b)); }                \
  TW_DEVICE T operator*(T a, T b) { return tw_narrow<T>(tw_f32(a) * tw_f32(b)); }                \
  TW_DEVICE bool operator==(T a, T b) { return tw_f32(a) == tw_f32(b); }                         \
  TW_DEVICE bool operator!=(T a, T b) { return tw_f32(a) != tw_f32(b); }                         \
  TW_DEVICE bool operator<(T a, T b) { return tw_f32(a) < tw_f32(b); }                           \
  TW_DEVICE bool operator<=(T a, T b) { return tw_f32(a) <= tw_f32(b); }                         \
  TW_DEVICE bool operator>(T a, T b) { return tw_f32(a) > tw_f32(b); }                           \
  TW_DEVICE bool operator>=(T a, T b) { return tw_f32(a) >= tw_f32(b); }
TW_NARROW_OPERATORS(f16)
TW_NARROW_OPERATORS(bf16)
#undef TW_NARROW_OPERATORS

// ---- integer arithmetic: wraps, and is defined everywhere ----------------------------------------
template <class T>
TW_DEVICE T tw_add(T a, T b) {
  if constexpr (tw_is<T, bool>::value) return a != b;
  else return (T)((tw_bits_of<T>)a + (tw_bits_of<T>)b);
}
template <class T>
TW_DEVICE T tw_sub(T a, T b) {
  if constexpr (tw_is<T, bool>::value) return a != b;
  else return (T)((tw_bits_of<T>)a - (tw_bits_of<T>)b);
}
template <class T>
TW_DEVICE T tw_mul(T a, T b) {
  if constexpr (tw_is<T, bool>::value) return a && b;
  else if constexpr (sizeof(T) < 4) return (T)((u32)a * (u32)b);
  else return (T)((tw_bits_of<T>)a * (tw_bits_of<T>)b);
}
// Quotient toward zero; x / 0 has all bits set; the smallest integer over -1 is itself.
template <class T>
TW_DEVICE T tw_div(T a, T b) {
  if constexpr (tw_kind<T>::is_signed) {
    if (b == (T)-1) return (T)(0 - (tw_bits_of<T>)a);
    return b == 0 ? (T)-1 : (T)(a / (b == 0 ? (T)1 : b));
  } else {
    return b == 0 ? (T)~(tw_bits_of<T>)0 : (T)(a / (b == 0 ? (T)1 : b));
  }
}
// Remainder with the sign of a; x % 0 is x.
template <class T>
TW_DEVICE T tw_rem(T a, T b) {
  if constexpr (tw_kind<T>::narrow) {
    return tw_narrow<T>(tw_rem(tw_f32(a), tw_f32(b)));
  } else {
    if constexpr (tw_kind<T>::is_signed) {
      if (b == (T)-1) return 0;
    }
    return b == 0 ? a : (T)(a % (b == 0 ? (T)1 : b));
  }
}
// Shifts: an amount of the width or more (as unsigned) gives 0, or the sign.
template <class T>
TW_DEVICE T tw_shl(T a, T b) {
  return (tw_bits_of<T>)b >= tw_kind<T>::width ? (T)0 : (T)((tw_bits_of<T>)a << (int)b);
}
template <class T>
TW_DEVICE T tw_shr(T a, T b) {
  constexpr int last = tw_kind<T>::width - 1;
  if constexpr (tw_kind<T>::is_signed) return (T)(a >> ((tw_bits_of<T>)b > last ? last : (int)b));
  else return (tw_bits_of<T>)b > last ? (T)0 : (T)(a >> (int)b);
}
template <class T>
TW_DEVICE T tw_mulhi(T a, T b) {  // 8 and 16 bits, i1
  return (T)((i32)a * (i32)b >> tw_kind<T>::width);
}
template <class T>
TW_DEVICE T tw_neg(T x) {
  if constexpr (tw_is<T, bool>::value) return x;
  else if constexpr (tw_kind<T>::narrow) return T{(tw_bits_of<T>)(x.bits ^ 1 << (8 * sizeof(T) - 1))};
  else if constexpr (tw_kind<T>::real) return -x;
  else return (T)(0 - (tw_bits_of<T>)x);
}
template <class T>
TW_DEVICE T tw_not(T x) {
  if constexpr (tw_is<T, bool>::value) return !x;
  else return (T)~x;
}
template <class T>
TW_DEVICE T tw_abs(T x) {
  if constexpr (tw_kind<T>::narrow) return T{(tw_bits_of<T>)(x.bits & ((1 << (8 * sizeof(T) - 1)) - 1))};
  else if constexpr (tw_kind<T>::is_signed) return x < 0 ? tw_neg(x) : x;
  else return x;
}
template <class T>
TW_DEVICE T tw_min(T a, T b) {
  if constexpr (tw_kind<T>::narrow) return tw_narrow<T>(tw_min(tw_f32(a), tw_f32(b)));
  else return b < a ? b : a;
}
template <class T>
TW_DEVICE T tw_max(T a, T b) {
  if constexpr (tw_kind<T>::narrow) return tw_narrow<T>(tw_max(tw_f32(a), tw_f32(b)));
  else return a < b ? b : a;
}
// Minimum and maximum where a NaN wins.
template <class T>
TW_DEVICE T tw_min_nan(T a, T b) { return a != a ? a : b != b ? b : tw_min(a, b); }
template <class T>
TW_DEVICE T tw_max_nan(T a, T b) { return a != a ? a : b != b ? b : tw_max(a, b); }
template <class T>
TW_DEVICE T tw_fma(T a, T b, T c) { return tw_narrow<T>(tw_fma(tw_f32(a), tw_f32(b), tw_f32(c))); }

// ---- functions -----------------------------------------------------------------------------------
TW_DEVICE f32 tw_exp(f32 x) { return tw_exp2(x * 1.4426950408889634f); }

// x - k * pi/2 for the nearest integer k, |k| up to 2^15 or so: pi/2 in three parts (Cody and Waite).
TW_DEVICE f32 tw_reduce_angle(f32 x, i32& quadrant) {
  f32 k = tw_floor(tw_fma(x, 0.63661977236758134f, 0.5f));
  quadrant = tw_cvt_i32(k);
  f32 r = tw_fma(-k, 1.57079637050628662f, x);
  r = tw_fma(-k, -4.37113882867379e-8f, r);
  return tw_fma(-k, -1.71512451000588e-15f, r);
}
TW_DEVICE f32 tw_sin_cos(f32 r, bool cosine) {
  f32 s = r * r;
  if (cosine) {
    f32 p = tw_fma(s, -2.75573192e-7f, 2.48015873e-5f);
    p = tw_fma(p, s, -1.38888889e-3f);
    p = tw_fma(p, s, 4.16666667e-2f);
    p = tw_fma(p, s, -0.5f);
    return tw_fma(p, s, 1.0f);
  }
  f32 p = tw_fma(s, 2.75573192e-6f, -1.98412698e-4f);
  p = tw_fma(p, s, 8.33333333e-3f);
  p = tw_fma(p, s, -1.66666667e-1f);
  return tw_fma(p * s, r, r);
}
TW_DEVICE f32 tw_sin(f32 x) {
  if (x == 0) return x;  // keeps the sign of zero
  i32 quadrant;
  f32 r = tw_reduce_angle(x, quadrant);
  f32 value = tw_sin_cos(r, (quadrant & 1) != 0);
  return quadrant & 2 ? -value : value;
}
TW_DEVICE f32 tw_cos(f32 x) {
  i32 quadrant;
  f32 r = tw_reduce_angle(x, quadrant);
  f32 value = tw_sin_cos(r, (quadrant & 1) == 0);
  return (quadrant + 1) & 2 ? -value : value;
}

// f16 and bf16.
template <class T>
TW_DEVICE T tw_floor(T x) { return tw_narrow<T>(tw_floor(tw_f32(x))); }
template <class T>
TW_DEVICE T tw_ceil(T x) { return tw_narrow<T>(tw_ceil(tw_f32(x))); }

// ---- atomics of every type -----------------------------------------------------------------------
template <int Scope, class T>
TW_DEVICE T tw_atomic_add(u64 address, T v TW_AT) {
  if constexpr (tw_is<T, f32>::value || tw_is<T, f64>::value) {
    return tw_atom_add<Scope>(address, v TW_HERE);
  } else if constexpr (tw_is<T, f16>::value) {
    return f16{tw_atom_add_f16<Scope>(address, v.bits TW_HERE)};
  } else if constexpr (tw_is<T, bf16>::value) {
#ifdef TW_HAS_ATOM_ADD_BF16
    return bf16{tw_atom_add_bf16<Scope>(address, v.bits TW_HERE)};
#else
    bf16 old, seen;
    tw_load<1, TW_VOLATILE>(&old, address TW_HERE);
    do {
      seen = old;
      old.bits = tw_atom_cas<Scope>(address, seen.bits, (seen + v).bits TW_HERE);
    } while (old.bits != seen.bits);
    return old;
#endif
  } else {
    return (T)tw_atom_add<Scope>(address, (tw_bits_of<T>)v TW_HERE);
  }
}
// Adds N neighbours (aligned to their N * size bytes) whose old values nobody wants. Which N a target
// takes: assign_anchors.cpp.
template <int Scope, int N, class T>
TW_DEVICE void tw_red_add(u64 address, const T* v TW_AT) {
  if constexpr (N == 1) {
    tw_atomic_add<Scope>(address, v[0] TW_HERE);
  } else if constexpr (tw_is<T, f16>::value) {
    u32 w[N / 2];
    tw_to_words<N>(w, v);
    tw_red_add_f16x2<Scope, N / 2>(address, w TW_HERE);
#ifdef TW_HAS_RED_VECTORS
  } else if constexpr (tw_is<T, bf16>::value) {
    u32 w[N / 2];
    tw_to_words<N>(w, v);
    tw_red_add_bf16x2<Scope, N / 2>(address, w TW_HERE);
  } else {
    tw_red_add_f32<Scope, N>(address, v TW_HERE);
#endif
  }
}
// Floats are ordered as their images are, sign and magnitude: integer atomics do it, since among
// images of negative numbers the order is reversed.
template <int Scope, class T>
TW_DEVICE T tw_atomic_min(u64 address, T v TW_AT) {
  if constexpr (tw_is<T, f32>::value) {
    i32 bits = tw_bitcast<i32>(v);
    return tw_bitcast<f32>(bits >= 0 ? (u32)tw_atom_min<Scope>(address, bits TW_HERE) : tw_atom_max<Scope>(address, (u32)bits TW_HERE));
  } else if constexpr (tw_is<T, f64>::value) {
    i64 bits = tw_bitcast<i64>(v);
    return tw_bitcast<f64>(bits >= 0 ? (u64)tw_atom_min<Scope>(address, bits TW_HERE) : tw_atom_max<Scope>(address, (u64)bits TW_HERE));
  } else {
    return tw_atom_min<Scope>(address, v TW_HERE);
  }
}
template <int Scope, class T>
TW_DEVICE T tw_atomic_max(u64 address, T v TW_AT) {
  if constexpr (tw_is<T, f32>::value) {
    i32 bits = tw_bitcast<i32>(v);
    return tw_bitcast<f32>(bits >= 0 ? (u32)tw_atom_max<Scope>(address, bits TW_HERE) : tw_atom_min<Scope>(address, (u32)bits TW_HERE));
  } else if constexpr (tw_is<T, f64>::value) {
    i64 bits = tw_bitcast<i64>(v);
    return tw_bitcast<f64>(bits >= 0 ? (u64)tw_atom_max<Scope>(address, bits TW_HERE) : tw_atom_min<Scope>(address, (u64)bits TW_HERE));
  } else {
    return tw_atom_max<Scope>(address, v TW_HERE);
  }
}
#define TW_ATOMIC_BITS(name, word_form)                                                      \
  template <int Scope, class T>                                                              \
  TW_DEVICE T name(u64 address, T v TW_AT) {                                                       \
    return tw_bitcast<T>(word_form<Scope>(address, tw_bitcast<tw_bits_of<T>>(v) TW_HERE));           \
  }
TW_ATOMIC_BITS(tw_atomic_and, tw_atom_and)
TW_ATOMIC_BITS(tw_atomic_or, tw_atom_or)
TW_ATOMIC_BITS(tw_atomic_xor, tw_atom_xor)
TW_ATOMIC_BITS(tw_atomic_xchg, tw_atom_xchg)
#undef TW_ATOMIC_BITS
// Stores v where memory equals `expected` (bits, 16 to 64); gives the old value.
template <int Scope, class T>
TW_DEVICE T tw_atomic_cas(u64 address, T expected, T v TW_AT) {
  typedef tw_bits_of<T> word;
  return tw_bitcast<T>(tw_atom_cas<Scope>(address, tw_bitcast<word>(expected), tw_bitcast<word>(v) TW_HERE));
}

// ---- bits ----------------------------------------------------------------------------------------
// True if an odd number of bits is set.
TW_DEVICE bool tw_parity(u32 x) {
  x ^= x >> 16;
  x ^= x >> 8;
  x ^= x >> 4;
  return (0x6996u >> (x & 15) & 1) != 0;
}
// A float as the sum of two TF32 numbers: `word` (an f32 image) becomes the nearest one, `rest` what is left.
TW_DEVICE void tw_split_tf32(u32& word, u32& rest) {
  f32 x = tw_bitcast<f32>(word);
  word = tw_tf32_operand(x) & 0xffffe000u;
  f32 left = x - tw_bitcast<f32>(word);
  rest = left == left ? tw_tf32_operand(left) : 0;
}

// Four fp8 numbers as f16, all exact: `word` becomes the first two, `rest` the others.
TW_DEVICE void tw_split_f8e5m2(u32& word, u32& rest) {
  rest = tw_select_bytes(word, 0, 0x3424);
  word = tw_select_bytes(word, 0, 0x1404);
}
// Two e4m3 numbers in the upper bytes of halves, as f16: shifted into place they lack 2^8; NaN is
// all ones.
TW_DEVICE u32 tw_widen_f8e4m3(u32 pair) {
  u32 nan = ((pair & 0x7f007f00u) + 0x01000100u) & 0x80008000u;
  u32 shifted = (pair & 0x80008000u) | (pair >> 1 & 0x3f803f80u);
  return tw_mul_f16x2(shifted, 0x5c005c00u) | (nan - (nan >> 6));
}
TW_DEVICE void tw_split_f8e4m3(u32& word, u32& rest) {
#ifdef TW_HAS_FP8_CVT
  rest = tw_cvt_f16x2_f8e4m3((u16)(word >> 16));
  word = tw_cvt_f16x2_f8e4m3((u16)word);
#else
  rest = tw_widen_f8e4m3(tw_select_bytes(word, 0, 0x3424));
  word = tw_widen_f8e4m3(tw_select_bytes(word, 0, 0x1404));
#endif
}
// Eight nibbles as bytes: `word` becomes the low ones of its bytes, `rest` the high ones.
TW_DEVICE void tw_split_u4(u32& word, u32& rest) {
  rest = word >> 4 & 0x0f0f0f0fu;
  word &= 0x0f0f0f0fu;
}
TW_DEVICE void tw_split_i4(u32& word, u32& rest) {
  tw_split_u4(word, rest);
  word = ((word ^ 0x88888888u) - 0x08080808u) ^ 0x80808080u;
  rest = ((rest ^ 0x88888888u) - 0x08080808u) ^ 0x80808080u;
}

// ---- loops ---------------------------------------------------------------------------------------
// The value of a loop's variable after `k`, on its way to `end`, in steps that may overshoot the type.
template <class T>
TW_DEVICE T tw_next(T k, T step, T end) {
  typedef tw_bits_of<T> U;
  U left = step > 0 ? (U)end - (U)k : (U)k - (U)end, stride = step > 0 ? (U)step : (U)0 - (U)step;
  return left > stride ? (T)((U)k + (U)step) : end;
}
