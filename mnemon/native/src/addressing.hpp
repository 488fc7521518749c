// What the memories share: look-up by content, reading, erasing and adding; each forward and backward, for one sample.
//
// Letters: N slots, W word, H heads. A memory lies word by word, M[w][n] with n padded, so that vectors run over slots;
// padding holds zeros (by_slot.hpp has the other way). Weightings are rows [h][n]. im and ik are the inverse lengths
// 1/√(‖v‖² + ε) of slots and keys.
#pragma once

#include "vector.hpp"

namespace mnemon {

constexpr double kEpsilon = 1e-6;  // as EPSILON in mnemon/memory/addressing.py

// Of n numbers; a tensor that has none is null, which memset and memcpy must not see.
template <class T> MNEMON_INLINE void set_zero(T* x, long n) {
    if (n) std::memset(x, 0, n * sizeof(T));
}
template <class T> MNEMON_INLINE void copy(T* to, const T* from, long n) {
    if (n) std::memcpy(to, from, n * sizeof(T));
}

// Zero the padding of a row of n numbers.
template <class T> MNEMON_INLINE void zero_padding(T* x, int n) {
    for (int i = n; i < padded<T>(n); i++) x[i] = 0;
}

template <class T> MNEMON_INLINE T dot(const T* a, const T* b, int padded_length) {
    Vec<T> total{};
    for (int j = 0; j < padded_length; j += kLanes<T>) total += load<T>(a + j) * load<T>(b + j);
    return sum<T>(total);
}

template <class T> MNEMON_INLINE T inverse_length(const T* key, int word) {
    Vec<T> total{};
    in_vectors<T>(word, [&](int w, auto part) {
        const Vec<T> k = part.load(key + w);
        total += k * k;
    });
    return 1 / std::sqrt(sum<T>(total) + (T)kEpsilon);
}

template <class T> void inverse_lengths(const T* memory, int word, int slots, T* inverse) {
    for (int j = 0; j < slots; j += kLanes<T>) {
        Vec<T> total = spread<T>((T)kEpsilon);
        for (int w = 0; w < word; w++) {
            Vec<T> m = load<T>(memory + (long)w * slots + j);
            total += m * m;
        }
        for (int i = 0; i < kLanes<T>; i++) inverse[j + i] = 1 / std::sqrt(total[i]);
    }
}

// In place: x = softmax(x) over the first n of a padded row; the padding becomes 0.
template <class T> void softmax(T* x, int n) {
    const int all = padded<T>(n);
    for (int i = n; i < all; i++) x[i] = (T)-1e30;
    Vec<T> most = load<T>(x);
    for (int j = kLanes<T>; j < all; j += kLanes<T>) most = maximum<T>(most, load<T>(x + j));
    const T top = largest<T>(most);
    for (int j = 0; j < all; j += kLanes<T>) store<T>(x + j, exponential(load<T>(x + j) - top));
    zero_padding(x, n);
    Vec<T> total{};
    for (int j = 0; j < all; j += kLanes<T>) total += load<T>(x + j);
    const T scale = 1 / sum<T>(total);
    for (int j = 0; j < all; j += kLanes<T>) store<T>(x + j, load<T>(x + j) * scale);
}

// z = softmax⁻¹ chain: dz = w ∘ (dw − Σ dw w), in place of dw.
template <class T> MNEMON_INLINE void softmax_backward(const T* w, T* dw, int all) {
    const T inner = dot(w, dw, all);
    for (int j = 0; j < all; j += kLanes<T>) store<T>(dw + j, load<T>(w + j) * (load<T>(dw + j) - inner));
}

// Runs f(first, count) over 0 … n in blocks of 4, 2 and 1, or of kMost at most; the count is a compile-time constant.
template <int kMost = 4, class F> MNEMON_INLINE void in_blocks(int n, F f) {
    int i = 0;
    if constexpr (kMost >= 4)
        for (; i + 4 <= n; i += 4) f(i, std::integral_constant<int, 4>());
    if constexpr (kMost >= 2)
        for (; i + 2 <= n; i += 2) f(i, std::integral_constant<int, 2>());
    for (; i < n; i++) f(i, std::integral_constant<int, 1>());
}

// Runs f(heads), where one head, the most usual number, is a compile-time constant: its loops vanish.
template <class F> MNEMON_INLINE void with_heads(int heads, F f) {
    if (heads == 1) f(std::integral_constant<int, 1>());
    else f(heads);
}

// Runs f(head, heads, word, words) over all heads and words, in blocks whose sums fit the registers together.
template <class F> MNEMON_INLINE void in_blocks_of_heads_and_words(int heads, int words, F f) {
    in_blocks(heads, [&](int head, auto head_count) {
        in_blocks<4 / decltype(head_count)::value>(
            words, [&](int word, auto word_count) { f(head, head_count, word, word_count); });
    });
}

// ---- look-up by content ---------------------------------------------------------------------------------------------
//
//   s[h][n] = (k_h · M_n) ik_h im_n,     w_h = softmax_n(β_h s[h][n])

template <class T>
void inner_products(const T* memory, int word, int slots, int heads, const T* keys, long key_stride, T* products) {
    product<T>({keys, key_stride, nullptr, 0, products, slots}, heads, slots, word, memory, slots);
}

// From k_h · M_n to s[h][n], in place, and to the weights.
template <class T>
void weigh(T* similarity, const T* im, int slots_used, int heads, const T* ik, const T* strengths, T* weights) {
    const int slots = padded<T>(slots_used);
    for (int h = 0; h < heads; h++)
        for (int j = 0; j < slots; j += kLanes<T>) {
            const long at = (long)h * slots + j;
            const Vec<T> s = load<T>(similarity + at) * load<T>(im + j) * ik[h];
            store<T>(similarity + at, s);
            store<T>(weights + at, s * strengths[h]);
        }
    for (int h = 0; h < heads; h++) softmax(weights + (long)h * slots, slots_used);
}

// With dz = softmax_backward(dw): dβ = Σ_n dz s, ds = β dz, and through the cosine
//   dk_h = Σ_n along_h M_n − k_h ik² Σ_n ds s,      dM_n += Σ_h along_h k_h − inward M_n
// where along_h = ds ik im, in place of dw, and inward = im² Σ_h ds s.
template <class T>
void weigh_backward(const T* im, int slots, int heads, const T* ik, const T* strengths, const T* similarity,
                    const T* weights, T* dweights, T* dstrengths, T* inward) {
    set_zero(inward, slots);
    for (int h = 0; h < heads; h++) {
        T* d = dweights + (long)h * slots;
        const T* s = similarity + (long)h * slots;
        softmax_backward(weights + (long)h * slots, d, slots);
        dstrengths[h] = dot(d, s, slots);
        for (int j = 0; j < slots; j += kLanes<T>) {
            Vec<T> ds = load<T>(d + j) * strengths[h], lengths = load<T>(im + j);
            store<T>(inward + j, load<T>(inward + j) + ds * load<T>(s + j) * lengths * lengths);
            store<T>(d + j, ds * lengths * ik[h]);
        }
    }
}

// What Σ_n ds s takes from a key.
template <class T> MNEMON_INLINE T shrinkage(T ik, T strength, T dstrength) { return ik * ik * dstrength * strength; }

template <class T>
void keys_backward(const T* memory, int word, int slots, int heads, const T* keys, long key_stride, const T* ik,
                   const T* strengths, const T* dstrengths, const T* along, const T* inward, T* dkeys,
                   long dkey_stride, T* dmemory) {
    in_blocks_of_heads_and_words(heads, word, [&](int head, auto head_count, int first, auto word_count) {
        constexpr int kHeads = decltype(head_count)::value, kWords = decltype(word_count)::value;
        const T *m = memory + (long)first * slots, *d = along + (long)head * slots;
        T* dm = dmemory + (long)first * slots;
        Vec<T> total[kWords][kHeads] = {};
        T k[kWords][kHeads];
        for (int w = 0; w < kWords; w++)
            for (int h = 0; h < kHeads; h++) k[w][h] = keys[(head + h) * key_stride + first + w];
        for (int j = 0; j < slots; j += kLanes<T>) {
            const Vec<T> shared = head ? Vec<T>{} : load<T>(inward + j);  // once for all heads
            Vec<T> weight[kHeads];
            for (int h = 0; h < kHeads; h++) weight[h] = load<T>(d + (long)h * slots + j);
            for (int w = 0; w < kWords; w++) {
                const Vec<T> at = load<T>(m + (long)w * slots + j);
                Vec<T> change = load<T>(dm + (long)w * slots + j) - shared * at;
                for (int h = 0; h < kHeads; h++) {
                    total[w][h] += weight[h] * at;
                    change += weight[h] * k[w][h];
                }
                store<T>(dm + (long)w * slots + j, change);
            }
        }
        for (int h = 0; h < kHeads; h++) {
            const T shrink = shrinkage(ik[head + h], strengths[head + h], dstrengths[head + h]);
            for (int w = 0; w < kWords; w++)
                dkeys[(head + h) * dkey_stride + first + w] = sum<T>(total[w][h]) - shrink * k[w][h];
        }
    });
}

// ---- reading --------------------------------------------------------------------------------------------------------
//
//   r_h[w] = Σ_n w_h[n] M[w][n];      dw_h[n] += Σ_w dr_h[w] M[w][n],      dM[w][n] += Σ_h w_h[n] dr_h[w]

template <class T>
void read(const T* memory, int word, int slots, int heads, const T* weights, T* reads) {
    in_blocks_of_heads_and_words(heads, word, [&](int head, auto head_count, int first, auto word_count) {
        constexpr int kHeads = decltype(head_count)::value, kWords = decltype(word_count)::value;
        const T *m = memory + (long)first * slots, *rows = weights + (long)head * slots;
        Vec<T> total[kWords][kHeads] = {};
        for (int j = 0; j < slots; j += kLanes<T>) {
            Vec<T> weight[kHeads];
            for (int h = 0; h < kHeads; h++) weight[h] = load<T>(rows + (long)h * slots + j);
            for (int w = 0; w < kWords; w++) {
                const Vec<T> at = load<T>(m + (long)w * slots + j);
                for (int h = 0; h < kHeads; h++) total[w][h] += weight[h] * at;
            }
        }
        for (int h = 0; h < kHeads; h++)
            for (int w = 0; w < kWords; w++) reads[(long)(head + h) * word + first + w] = sum<T>(total[w][h]);
    });
}

template <class T>
void read_backward(const T* memory, int word, int slots, int heads, const T* weights, const T* dreads, T* dweights,
                   T* dmemory) {
    in_blocks(heads, [&](int first, auto count) {
        constexpr int kHeads = decltype(count)::value;
        for (int j = 0; j < slots; j += kLanes<T>) {
            Vec<T> weight[kHeads], dweight[kHeads];
            for (int h = 0; h < kHeads; h++) {
                weight[h] = load<T>(weights + (long)(first + h) * slots + j);
                dweight[h] = load<T>(dweights + (long)(first + h) * slots + j);
            }
            for (int w = 0; w < word; w++) {
                const long at = (long)w * slots + j;
                Vec<T> m = load<T>(memory + at), change = load<T>(dmemory + at);
                for (int h = 0; h < kHeads; h++) {
                    const T d = dreads[(long)(first + h) * word + w];
                    dweight[h] += d * m;
                    change += d * weight[h];
                }
                store<T>(dmemory + at, change);
            }
            for (int h = 0; h < kHeads; h++) store<T>(dweights + (long)(first + h) * slots + j, dweight[h]);
        }
    });
}

// ---- erasing and adding ---------------------------------------------------------------------------------------------
//
//   M' = M ∘ Π_h (1 − w_h e_hᵀ) + Σ_h w_h a_hᵀ       (in place when before == after)

template <class T>
void erase_and_add(const T* before, T* after, int word, int slots, int head_count, const T* weights, const T* erase,
                   const T* add, long vector_stride) {
    with_heads(head_count, [&](auto heads) {
        in_blocks(word, [&](int first, auto word_count) {
            constexpr int kWords = decltype(word_count)::value;
            for (int j = 0; j < slots; j += kLanes<T>) {
                Vec<T> m[kWords], added[kWords] = {};
                for (int w = 0; w < kWords; w++) m[w] = load<T>(before + (long)(first + w) * slots + j);
                for (int h = 0; h < heads; h++) {
                    const Vec<T> weight = load<T>(weights + (long)h * slots + j);
                    for (int w = 0; w < kWords; w++) {
                        m[w] -= m[w] * weight * erase[h * vector_stride + first + w];
                        added[w] += weight * add[h * vector_stride + first + w];
                    }
                }
                for (int w = 0; w < kWords; w++) store<T>(after + (long)(first + w) * slots + j, m[w] + added[w]);
            }
        });
    });
}

// With D = dM', kept_h = Π_{i≠h} (1 − w_i e_i):
//   da_h = Σ_n D w_h,   de_h = −Σ_n D M kept_h w_h,   dw_h[n] += Σ_w D (a_h − M kept_h e_h),   dM = D Π_h (1 − w_h e_h).
// dmemory holds D and becomes dM.
template <class T>
void erase_and_add_backward(const T* before, int word, int slots, int head_count, const T* weights, const T* erase,
                            const T* add, long vector_stride, T* dmemory, T* dweights, T* derase, T* dadd,
                            long dvector_stride) {
    with_heads(head_count, [&](auto heads) {
        for (int h = 0; h < heads; h++) {
            const T *rows = weights + (long)h * slots, *e = erase + h * vector_stride, *a = add + h * vector_stride;
            const bool last = h == heads - 1;  // D is not needed after it
            in_blocks(word, [&](int first, auto word_count) {
                constexpr int kWords = decltype(word_count)::value;
                const T* m = before + (long)first * slots;
                T *dm = dmemory + (long)first * slots, *dw = dweights + (long)h * slots;
                Vec<T> total_add[kWords] = {}, total_erase[kWords] = {};
                for (int j = 0; j < slots; j += kLanes<T>) {
                    const Vec<T> weight = load<T>(rows + j);
                    Vec<T> dweight = load<T>(dw + j);
                    for (int w = 0; w < kWords; w++) {
                        const T own = e[first + w];
                        Vec<T> d = load<T>(dm + (long)w * slots + j), kept = load<T>(m + (long)w * slots + j);
                        Vec<T> passed = d - d * weight * own;
                        for (int i = 0; i < heads; i++) {
                            if (i == h) continue;
                            const Vec<T> erased =
                                load<T>(weights + (long)i * slots + j) * erase[i * vector_stride + first + w];
                            kept -= kept * erased;
                            passed -= passed * erased;
                        }
                        total_add[w] += d * weight;
                        total_erase[w] -= d * kept * weight;
                        dweight += d * (a[first + w] - kept * own);
                        if (last) store<T>(dm + (long)w * slots + j, passed);
                    }
                    store<T>(dw + j, dweight);
                }
                for (int w = 0; w < kWords; w++) {
                    dadd[h * dvector_stride + first + w] = sum<T>(total_add[w]);
                    derase[h * dvector_stride + first + w] = sum<T>(total_erase[w]);
                }
            });
        }
    });
}

// ---- look-up by part of the word ------------------------------------------------------------------------------------
//
//   s[h][n] = (Σ_w m² k M_n) ik_h im_hn,      w_h = softmax_n(β_h s),
//   ik_h = 1/√(‖m k‖² + ε),      im_hn = 1/√(‖m M_n‖² + ε)
//
// Keys and masks of heads are `stride` apart.

template <class T>
void masked_look_up(const T* memory, int word, int slots_used, int heads, const T* keys, const T* masks, long stride,
                    const T* strengths, T* ik, T* im, T* similarity, T* weights) {
    const int slots = padded<T>(slots_used);
    for (int h = 0; h < heads; h++) {
        const T *k = keys + h * stride, *m = masks + h * stride;
        const long row = (long)h * slots;
        T length = (T)kEpsilon;
        for (int w = 0; w < word; w++) length += m[w] * k[w] * m[w] * k[w];
        ik[h] = 1 / std::sqrt(length);
        for (int j = 0; j < slots; j += kLanes<T>) {
            Vec<T> lengths = spread<T>((T)kEpsilon), inner{};
            for (int w = 0; w < word; w++) {
                Vec<T> at = m[w] * load<T>(memory + (long)w * slots + j);
                lengths += at * at;
                inner += m[w] * k[w] * at;
            }
            for (int i = 0; i < kLanes<T>; i++) im[row + j + i] = 1 / std::sqrt(lengths[i]);
            Vec<T> s = inner * load<T>(im + row + j) * ik[h];
            store<T>(similarity + row + j, s);
            store<T>(weights + row + j, s * strengths[h]);
        }
        softmax(weights + row, slots_used);
    }
}

// With q = m², and ds as in weigh_backward:
//   dM_n += Σ_h q (ds ik im k − ds s im² M_n),      dk = q (Σ_n ds ik im M_n − k ik² Σ_n ds s),
//   dq = k Σ_n ds ik im M_n − ½ Σ_n ds s im² M_n² − ½ k² ik² Σ_n ds s,      dm = 2 m dq.
// dweights is used up.
template <class T>
void masked_look_up_backward(const T* memory, int word, int slots, int heads, const T* keys, const T* masks,
                             long stride, const T* strengths, const T* ik, const T* im, const T* similarity,
                             const T* weights, T* dweights, T* dkeys, T* dmasks, T* dstrengths, T* dmemory) {
    for (int h = 0; h < heads; h++) {
        const T *k = keys + h * stride, *m = masks + h * stride;
        const T *s = similarity + (long)h * slots, *lengths = im + (long)h * slots;
        T* d = dweights + (long)h * slots;
        softmax_backward(weights + (long)h * slots, d, slots);
        dstrengths[h] = dot(d, s, slots);
        const T shrink = strengths[h] * dstrengths[h] * ik[h] * ik[h];
        for (int w = 0; w < word; w++) {
            const T* row = memory + (long)w * slots;
            T* drow = dmemory + (long)w * slots;
            Vec<T> direct{}, by_length{};
            for (int j = 0; j < slots; j += kLanes<T>) {
                Vec<T> at = load<T>(row + j), length = load<T>(lengths + j), ds = load<T>(d + j) * strengths[h];
                Vec<T> along = ds * length * ik[h], inward = ds * load<T>(s + j) * length * length * at;
                direct += along * at;
                by_length += inward * at;
                store<T>(drow + j, load<T>(drow + j) + m[w] * m[w] * (along * k[w] - inward));
            }
            const T inner = sum<T>(direct);
            dkeys[h * stride + w] = m[w] * m[w] * (inner - shrink * k[w]);
            dmasks[h * stride + w] = m[w] * (2 * k[w] * inner - sum<T>(by_length) - shrink * k[w] * k[w]);
        }
    }
}

// ---- sharpening -----------------------------------------------------------------------------------------------------
//
//   w' ∝ w^γ = softmax(γ log max(w, 10⁻²⁰))

template <class T> void sharpen(const T* weights, int slots_used, T exponent, T* sharp) {
    for (int j = 0; j < padded<T>(slots_used); j += kLanes<T>)
        store<T>(sharp + j, exponent * logarithm(maximum<T>(load<T>(weights + j), spread<T>((T)1e-20))));
    softmax(sharp, slots_used);
}

// dz = softmax_backward(dw'),  dw = γ dz / w, 0 where w was clamped, in place of dw'. Returns dγ = Σ dz log w.
template <class T> T sharpen_backward(const T* weights, const T* sharp, int slots, T exponent, T* dsharp) {
    softmax_backward(sharp, dsharp, slots);
    Vec<T> dexponent{};
    for (int j = 0; j < slots; j += kLanes<T>) {
        Vec<T> at = load<T>(weights + j), dz = load<T>(dsharp + j);
        Vec<T> clamped = maximum<T>(at, spread<T>((T)1e-20));
        dexponent += dz * logarithm(clamped);
        store<T>(dsharp + j, at >= spread<T>((T)1e-20) ? exponent * dz / clamped : Vec<T>{});
    }
    return sum<T>(dexponent);
}

// ---- usage ----------------------------------------------------------------------------------------------------------

// Usage with a slight slope over the slots, which settles ties in favour of the first: from_least_used in
// mnemon/memory/addressing.py sorts by it.
template <class T> void settle_ties(const T* used, int slots, T* settled) {
    T most = used[0];
    for (int n = 1; n < slots; n++) most = used[n] > most ? used[n] : most;
    for (int n = 0; n < slots; n++) settled[n] = (1 + most) * ((T)4e-6 * (T)n);
    for (int n = 0; n < slots; n++) settled[n] += used[n];  // a loop of its own, so that the product is rounded first
}

}  // namespace mnemon
