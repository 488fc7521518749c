// A small vector layer on the compiler's vector extensions: one type, a handful of functions.
//
// Every array that a kernel walks is padded to whole vectors (see padded()), so that loops have no tails.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <utility>

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

namespace mnemon {

#if defined(__AVX512F__)
constexpr int kVectorBytes = 64;
#elif defined(__AVX__)
constexpr int kVectorBytes = 32;
#else
constexpr int kVectorBytes = 16;
#endif

// To the compiler a vector is numbers of its type: what is stored through one is no pointer and no size, and those stay
// in registers.
template <class T> struct Lanes;
template <> struct Lanes<float> {
    typedef float Vector __attribute__((vector_size(kVectorBytes)));
    typedef float Unaligned __attribute__((vector_size(kVectorBytes), aligned(4)));
    typedef int32_t Integers __attribute__((vector_size(kVectorBytes)));
};
template <> struct Lanes<double> {
    typedef double Vector __attribute__((vector_size(kVectorBytes)));
    typedef double Unaligned __attribute__((vector_size(kVectorBytes), aligned(8)));
    typedef int64_t Integers __attribute__((vector_size(kVectorBytes)));
};

template <class T> using Vec = typename Lanes<T>::Vector;
template <class T> constexpr int kLanes = kVectorBytes / sizeof(T);

// The length of an array of n numbers, rounded up to whole vectors.
template <class T> constexpr int padded(int n) { return (n + kLanes<T> - 1) / kLanes<T> * kLanes<T>; }

#define MNEMON_INLINE inline __attribute__((always_inline))

template <class T> MNEMON_INLINE Vec<T> load(const T* from) { return *(const typename Lanes<T>::Unaligned*)from; }
template <class T> MNEMON_INLINE void store(T* to, Vec<T> x) { *(typename Lanes<T>::Unaligned*)to = x; }
template <class T> MNEMON_INLINE Vec<T> spread(T x) { return x - Vec<T>{}; }  // x − 0 is x, also for −0

constexpr int kLineBytes = 64;  // of the cache

// Has numbers brought near, and goes on without them.
template <class T> MNEMON_INLINE void fetch(const T* from, long numbers) {
    for (long k = 0; k < numbers; k += kLineBytes / (int)sizeof(T)) __builtin_prefetch(from + k);
}

template <class T> MNEMON_INLINE T largest(Vec<T> x) {
    T most = x[0];
    for (int i = 1; i < kLanes<T>; i++) most = x[i] > most ? x[i] : most;
    return most;
}
template <class T> MNEMON_INLINE Vec<T> maximum(Vec<T> a, Vec<T> b) { return a > b ? a : b; }

// e^x. Single precision: x = n ln 2 + r, a polynomial in r (Cephes), and n put into the exponent bits.
MNEMON_INLINE Vec<float> exponential(Vec<float> x) {
    using V = Vec<float>;
    x = x > 88.0f ? V{} + 88.0f : x;
    x = x < -87.0f ? V{} - 87.0f : x;
    const V magic = V{} + 12582912.0f;  // 1.5·2²³: adding and subtracting it rounds to an integer
    V n = (x * 1.44269504088896341f + magic) - magic;
    V r = x - n * 0.693359375f + n * 2.12194440e-4f;
    V p = V{} + 1.9875691500e-4f;
    p = p * r + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    p = p * r * r + r + 1.0f;
    typename Lanes<float>::Integers exponent = __builtin_convertvector(n, typename Lanes<float>::Integers);
    return p * (V)((exponent + 127) << 23);
}
MNEMON_INLINE Vec<double> exponential(Vec<double> x) {
    for (int i = 0; i < kLanes<double>; i++) x[i] = std::exp(x[i]);
    return x;
}

// ln x for x > 0. Single precision: x = m·2^e with m in [√½, √2), a polynomial in m − 1 (Cephes).
MNEMON_INLINE Vec<float> logarithm(Vec<float> x) {
    using V = Vec<float>;
    using I = typename Lanes<float>::Integers;
    I bits = (I)x;
    I e = ((bits >> 23) & 0xff) - 126;
    V m = (V)((bits & 0x007fffff) | 0x3f000000);
    I small = m < 0.707106781186547524f;
    e = e + small;  // true is −1
    m = small ? m + m - 1.0f : m - 1.0f;
    V z = m * m;
    V y = V{} + 7.0376836292e-2f;
    y = y * m - 1.1514610310e-1f;
    y = y * m + 1.1676998740e-1f;
    y = y * m - 1.2420140846e-1f;
    y = y * m + 1.4249322787e-1f;
    y = y * m - 1.6668057665e-1f;
    y = y * m + 2.0000714765e-1f;
    y = y * m - 2.4999993993e-1f;
    y = y * m + 3.3333331174e-1f;
    y = y * m * z;
    V whole = __builtin_convertvector(e, V);
    y = y - whole * 2.12194440e-4f - 0.5f * z;
    return m + y + whole * 0.693359375f;
}
MNEMON_INLINE Vec<double> logarithm(Vec<double> x) {
    for (int i = 0; i < kLanes<double>; i++) x[i] = std::log(x[i]);
    return x;
}

template <class T> MNEMON_INLINE Vec<T> sigmoid(Vec<T> x) { return 1 / (1 + exponential(-x)); }

// tanh. Single precision: an odd polynomial near zero, where the quotient of exponentials would cancel.
MNEMON_INLINE Vec<float> hyperbolic_tangent(Vec<float> x) {
    using V = Vec<float>;
    V e = exponential(-2 * x);
    V far = (1 - e) / (1 + e);
    V s = x * x;
    V near = V{} - 5.70498872745e-3f;
    near = near * s + 2.06390887954e-2f;
    near = near * s - 5.37397155531e-2f;
    near = near * s + 1.33314422036e-1f;
    near = near * s - 3.33332819422e-1f;
    near = x * (1.0f + s * near);
    return s < 0.390625f ? near : far;
}
MNEMON_INLINE Vec<double> hyperbolic_tangent(Vec<double> x) {
    for (int i = 0; i < kLanes<double>; i++) x[i] = std::tanh(x[i]);
    return x;
}

template <class T> MNEMON_INLINE T softplus(T x) { return x > 20 ? x : std::log1p(std::exp(x)); }
template <class T> MNEMON_INLINE T sigmoid_of(T x) { return 1 / (1 + std::exp(-x)); }

// How a loop over numbers that are not padded takes them: a vector at a time, and of the last one what is there, the
// other lanes being zero.
template <class T> struct Whole {
    MNEMON_INLINE Vec<T> load(const T* from) const { return mnemon::load<T>(from); }
    MNEMON_INLINE void store(T* to, Vec<T> x) const { mnemon::store<T>(to, x); }
    MNEMON_INLINE Vec<T> only(Vec<T> x) const { return x; }
};
template <class T> struct Part {
    int n;
#if defined(__AVX512F__)
    MNEMON_INLINE Vec<T> load(const T* from) const {
        if constexpr (sizeof(T) == 4) return (Vec<T>)_mm512_maskz_loadu_ps(mask(), from);
        else return (Vec<T>)_mm512_maskz_loadu_pd(mask(), from);
    }
    MNEMON_INLINE void store(T* to, Vec<T> x) const {
        if constexpr (sizeof(T) == 4) _mm512_mask_storeu_ps(to, mask(), (__m512)x);
        else _mm512_mask_storeu_pd(to, mask(), (__m512d)x);
    }
    MNEMON_INLINE Vec<T> only(Vec<T> x) const {
        if constexpr (sizeof(T) == 4) return (Vec<T>)_mm512_maskz_mov_ps(mask(), (__m512)x);
        else return (Vec<T>)_mm512_maskz_mov_pd(mask(), (__m512d)x);
    }

  private:
    MNEMON_INLINE uint16_t mask() const { return (uint16_t)((1 << n) - 1); }
#else
    MNEMON_INLINE Vec<T> load(const T* from) const {
        T part[kLanes<T>] = {};
        std::memcpy(part, from, n * sizeof(T));
        return mnemon::load<T>(part);
    }
    MNEMON_INLINE void store(T* to, Vec<T> x) const { std::memcpy(to, &x, n * sizeof(T)); }
    MNEMON_INLINE Vec<T> only(Vec<T> x) const { return load((const T*)&x); }
#endif
};

// Runs f(k, part) over n numbers, from number k on at a time.
template <class T, class F> MNEMON_INLINE void in_vectors(int n, F f) {
    int k = 0;
    for (; k + kLanes<T> <= n; k += kLanes<T>) f(k, Whole<T>{});
    if (k < n) f(k, Part<T>{n - k});
}

// y = f(x) over n numbers.
template <class T, class F> MNEMON_INLINE void map(const T* x, T* y, int n, F f) {
    in_vectors<T>(n, [&](int k, auto part) { part.store(y + k, f(part.load(x + k))); });
}

// ---- sums over lanes ------------------------------------------------------------------------------------------------

// Lane i of the result is a[i] + a[i ^ half] where i has the bit `half` clear, else the same of b.
template <class T, int kHalf, int... kLane>
MNEMON_INLINE Vec<T> fold(Vec<T> a, Vec<T> b, std::integer_sequence<int, kLane...>) {
    constexpr int kMore = kLanes<T>;  // numbers the lanes of b
#if defined(__clang__)
    return __builtin_shufflevector(a, b, (kLane & kHalf ? kLane + kMore : kLane)...) +
           __builtin_shufflevector(a, b, ((kLane ^ kHalf) + (kLane & kHalf ? kMore : 0))...);
#else
    using Order = typename Lanes<T>::Integers;
    return __builtin_shuffle(a, b, Order{(kLane & kHalf ? kLane + kMore : kLane)...}) +
           __builtin_shuffle(a, b, Order{((kLane ^ kHalf) + (kLane & kHalf ? kMore : 0))...});
#endif
}

// The sum of all lanes: every fold with itself halves the number of different ones.
template <class T, int kHalf = kLanes<T> / 2> MNEMON_INLINE T sum(Vec<T> x) {
    x = fold<T, kHalf>(x, x, std::make_integer_sequence<int, kLanes<T>>());
    if constexpr (kHalf == 1) return x[0];
    else return sum<T, kHalf / 2>(x);
}

// The sum of each of kLanes vectors, as the lanes of one: every fold halves their number. Uses x up.
template <class T, int kHalf = kLanes<T> / 2> MNEMON_INLINE Vec<T> sums_together(Vec<T>* x) {
    for (int i = 0; i < kHalf; i++)
        x[i] = fold<T, kHalf>(x[i], x[i + kHalf], std::make_integer_sequence<int, kLanes<T>>());
    if constexpr (kHalf == 1) return x[0];
    else return sums_together<T, kHalf / 2>(x);
}

// to[i] = the sum of x[i]; uses x up.
template <class T, int kCount> MNEMON_INLINE void sums_of(Vec<T>* x, T* to) {
    int i = 0;
    for (; i + kLanes<T> <= kCount; i += kLanes<T>) store<T>(to + i, sums_together<T>(x + i));
    for (; i < kCount; i++) to[i] = sum<T>(x[i]);
}

// x, loaded once: the compiler would otherwise load it again for each of its uses, which are more than loads can feed.
template <class T> MNEMON_INLINE Vec<T> in_register(Vec<T> x) {
#if defined(__x86_64__)
    asm("" : "+v"(x));
#endif
    return x;
}

// ---- matrix product of a few rows -----------------------------------------------------------------------------------
//
// C[m][n] = start[m][n] + Σ_k A[m][k] B[k][n]. A block of C stays in registers while k runs; B is read once for all rows
// of a block. start may be null (zero), or have stride 0 (one row for all). Rows of c and start are padded. Where A lies
// transposed, its rows are one apart and its columns are not.

template <class T> struct Product {
    const T* a;
    long a_stride;
    const T* start;
    long start_stride;
    T* c;
    long c_stride;
    long a_step = 1;  // from a column to the next
};

template <class T, int Rows, int Vectors>
MNEMON_INLINE void product_block(const Product<T>& p, int row, long column, int depth, const T* b, long b_stride) {
    Vec<T> block[Rows][Vectors];
    const T* start = p.start ? p.start + row * p.start_stride + column : nullptr;
    for (int m = 0; m < Rows; m++)
        for (int n = 0; n < Vectors; n++)
            block[m][n] = start ? load<T>(start + m * p.start_stride + n * kLanes<T>) : Vec<T>{};
    const T* a = p.a + row * p.a_stride;
    const long a_stride = p.a_stride, a_step = p.a_step;
    for (int k = 0; k < depth; k++, a += a_step) {
        Vec<T> right[Vectors];
        for (int n = 0; n < Vectors; n++) right[n] = in_register<T>(load<T>(b + k * b_stride + n * kLanes<T>));
        for (int m = 0; m < Rows; m++) {
            const Vec<T> left = spread<T>(a[m * a_stride]);
            for (int n = 0; n < Vectors; n++) block[m][n] += left * right[n];
        }
    }
    T* c = p.c + row * p.c_stride + column;
    for (int m = 0; m < Rows; m++)
        for (int n = 0; n < Vectors; n++) store<T>(c + m * p.c_stride + n * kLanes<T>, block[m][n]);
}

// All rows of so many vectors of columns.
template <class T, int Vectors>
void product_columns(const Product<T>& p, int rows, long column, int depth, const T* b, long b_stride) {
    int m = 0;
    for (; m + 4 <= rows; m += 4) product_block<T, 4, Vectors>(p, m, column, depth, b, b_stride);
    for (; m + 2 <= rows; m += 2) product_block<T, 2, Vectors>(p, m, column, depth, b, b_stride);
    for (; m < rows; m++) product_block<T, 1, Vectors>(p, m, column, depth, b, b_stride);
}

constexpr int kPanel = 3;  // vectors: with four rows, 12 sums, 3 of B and 1 of A fill the 16 registers of AVX2

// How many vectors to take of those that are left: two and two of the last four, for one alone has too few sums.
inline int next_panel(int left) { return left == kPanel + 1 ? left / 2 : std::min(kPanel, left); }

template <class T> void product_columns(const Product<T>& p, int rows, int vectors, long column, int depth, const T* b,
                                        long b_stride) {
    if (vectors == 1) product_columns<T, 1>(p, rows, column, depth, b, b_stride);
    if (vectors == 2) product_columns<T, 2>(p, rows, column, depth, b, b_stride);
    if (vectors == 3) product_columns<T, 3>(p, rows, column, depth, b, b_stride);
}

// B as it lies, with padded rows.
template <class T>
void product(const Product<T>& p, int rows, int columns, int depth, const T* b, long b_stride) {
    const int vectors = padded<T>(columns) / kLanes<T>;
    for (int n = 0, wide; n < vectors; n += wide) {
        wide = next_panel(vectors - n);
        product_columns(p, rows, wide, (long)n * kLanes<T>, depth, b + (long)n * kLanes<T>, b_stride);
    }
}

// B in panels: a few vectors of columns (see next_panel), row after row, then the next ones, so that a block reads it in
// a line.
template <class T> class Panels {
  public:
    Panels(int depth, int columns) : depth_(depth), columns_(columns) {}
    long size() const { return (long)depth_ * padded<T>(columns_); }

    // B[k][n] = from[k · per_row + n · per_column], one of which is 1; or 0, if `from` is null, as the padding is.
    void pack(T* to, const T* from, long per_row, long per_column) const {
        const int all = padded<T>(columns_);
        for (int left = 0, width; left < all; left += width) {
            width = next_panel((all - left) / kLanes<T>) * kLanes<T>;
            const int last = from ? std::min(left + width, columns_) : left;
            T* panel = to + (long)left * depth_ - left;
            if (per_row == 1)
                for (int n = left; n < last; n++)
                    for (int k = 0; k < depth_; k++) panel[(long)k * width + n] = from[n * per_column + k];
            for (int k = 0; k < depth_; k++) {
                T* row = panel + (long)k * width;
                if (per_row != 1)
                    for (int n = left; n < last; n++) row[n] = from[k * per_row + n];
                for (int n = last; n < left + width; n++) row[n] = 0;
            }
        }
    }

    void product(const Product<T>& p, int rows, const T* panels) const {
        const int vectors = padded<T>(columns_) / kLanes<T>;
        for (int n = 0, wide; n < vectors; n += wide) {
            wide = next_panel(vectors - n);
            product_columns(p, rows, wide, (long)n * kLanes<T>, depth_, panels + (long)n * kLanes<T> * depth_,
                            (long)wide * kLanes<T>);
        }
    }

  private:
    int depth_, columns_;
};

}  // namespace mnemon
