// What the memories share, for a memory that lies slot by slot: M[n][w] with w padded by zeros, so that vectors run over
// words. It is the better way where slots are few: those of four would leave three quarters of each vector empty.
// addressing.hpp has the same for a memory that lies word by word, with the mathematics.
#pragma once

#include "addressing.hpp"

namespace mnemon::by_slot {

// The sizes of a memory, and where its slots lie: rows of weightings are `padded` slots apart, rows of words `row`.
struct Sizes {
    int slots, padded, word, row;
};

template <class T> void inverse_lengths(const T* memory, Sizes size, T* inverse) {
    in_blocks(size.slots, [&](int first, auto count) {
        constexpr int kSlots = decltype(count)::value;
        Vec<T> total[kSlots] = {};
        for (int w = 0; w < size.row; w += kLanes<T>)
            for (int n = 0; n < kSlots; n++) {
                const Vec<T> m = load<T>(memory + (long)(first + n) * size.row + w);
                total[n] += m * m;
            }
        sums_of<T, kSlots>(total, inverse + first);
    });
    for (int n = 0; n < size.slots; n++) inverse[n] = 1 / std::sqrt(inverse[n] + (T)kEpsilon);
    zero_padding(inverse, size.slots);
}

// k_h · M_n
template <class T>
void inner_products(const T* memory, Sizes size, int heads, const T* keys, long key_stride, T* products) {
    for (int h = 0; h < heads; h++) {
        const T* key = keys + h * key_stride;
        T* row = products + (long)h * size.padded;
        in_blocks(size.slots, [&](int first, auto count) {
            constexpr int kSlots = decltype(count)::value;
            const T* m = memory + (long)first * size.row;
            Vec<T> total[kSlots] = {};
            in_vectors<T>(size.word, [&](int w, auto part) {
                const Vec<T> k = part.load(key + w);
                for (int n = 0; n < kSlots; n++) total[n] += k * load<T>(m + (long)n * size.row + w);
            });
            sums_of<T, kSlots>(total, row + first);
        });
        zero_padding(row, size.slots);
    }
}

template <class T>
void keys_backward(const T* memory, Sizes size, int heads, const T* keys, long key_stride, const T* ik,
                   const T* strengths, const T* dstrengths, const T* along, const T* inward, T* dkeys,
                   long dkey_stride, T* dmemory) {
    in_blocks(heads, [&](int head, auto head_count) {
        constexpr int kHeads = decltype(head_count)::value;
        const T* weights = along + (long)head * size.padded;
        in_vectors<T>(size.word, [&](int w, auto part) {
            Vec<T> key[kHeads], total[kHeads] = {};
            for (int h = 0; h < kHeads; h++) key[h] = part.load(keys + (head + h) * key_stride + w);
            for (int n = 0; n < size.slots; n++) {
                const long at = (long)n * size.row + w;
                const Vec<T> m = load<T>(memory + at);
                Vec<T> change = load<T>(dmemory + at);
                if (head == 0) change -= inward[n] * m;  // once for all heads
                for (int h = 0; h < kHeads; h++) {
                    const T weight = weights[(long)h * size.padded + n];
                    total[h] += weight * m;
                    change += weight * key[h];
                }
                store<T>(dmemory + at, change);
            }
            for (int h = 0; h < kHeads; h++) {
                const T shrink = shrinkage(ik[head + h], strengths[head + h], dstrengths[head + h]);
                part.store(dkeys + (head + h) * dkey_stride + w, total[h] - shrink * key[h]);
            }
        });
    });
}

template <class T> void read(const T* memory, Sizes size, int heads, const T* weights, T* reads) {
    in_blocks(heads, [&](int head, auto head_count) {
        constexpr int kHeads = decltype(head_count)::value;
        const T* rows = weights + (long)head * size.padded;
        in_vectors<T>(size.word, [&](int w, auto part) {
            Vec<T> total[kHeads] = {};
            for (int n = 0; n < size.slots; n++) {
                const Vec<T> m = load<T>(memory + (long)n * size.row + w);
                for (int h = 0; h < kHeads; h++) total[h] += rows[(long)h * size.padded + n] * m;
            }
            for (int h = 0; h < kHeads; h++) part.store(reads + (long)(head + h) * size.word + w, total[h]);
        });
    });
}

template <class T>
void read_backward(const T* memory, Sizes size, int heads, const T* weights, const T* dreads, T* dweights,
                   T* dmemory) {
    in_blocks<2>(heads, [&](int head, auto head_count) {
        constexpr int kHeads = decltype(head_count)::value;
        const T *rows = weights + (long)head * size.padded, *d = dreads + (long)head * size.word;
        T* drows = dweights + (long)head * size.padded;
        in_blocks<4 / kHeads>(size.slots, [&](int first, auto slot_count) {
            constexpr int kSlots = decltype(slot_count)::value;
            Vec<T> total[kHeads][kSlots] = {};
            in_vectors<T>(size.word, [&](int w, auto part) {
                Vec<T> dread[kHeads];
                for (int h = 0; h < kHeads; h++) dread[h] = part.load(d + (long)h * size.word + w);
                for (int n = 0; n < kSlots; n++) {
                    const long at = (long)(first + n) * size.row + w;
                    const Vec<T> m = load<T>(memory + at);
                    Vec<T> change = load<T>(dmemory + at);
                    for (int h = 0; h < kHeads; h++) {
                        total[h][n] += dread[h] * m;
                        change += rows[(long)h * size.padded + first + n] * dread[h];
                    }
                    store<T>(dmemory + at, change);
                }
            });
            for (int h = 0; h < kHeads; h++)
                for (int n = 0; n < kSlots; n++) drows[(long)h * size.padded + first + n] += sum<T>(total[h][n]);
        });
    });
}

template <class T>
void erase_and_add(const T* before, T* after, Sizes size, int head_count, const T* weights, const T* erase,
                   const T* add, long vector_stride) {
    with_heads(head_count, [&](auto heads) {
        in_vectors<T>(size.word, [&](int w, auto part) {
            for (int n = 0; n < size.slots; n++) {
                const long at = (long)n * size.row + w;
                Vec<T> m = load<T>(before + at), added{};
                for (int h = 0; h < heads; h++) {
                    const T weight = weights[(long)h * size.padded + n];
                    m -= m * weight * part.load(erase + h * vector_stride + w);
                    added += weight * part.load(add + h * vector_stride + w);
                }
                store<T>(after + at, m + added);
            }
        });
    });
}

template <class T>
void erase_and_add_backward(const T* before, Sizes size, int head_count, const T* weights, const T* erase,
                            const T* add, long vector_stride, T* dmemory, T* dweights, T* derase, T* dadd,
                            long dvector_stride) {
    with_heads(head_count, [&](auto heads) {
        for (int h = 0; h < heads; h++) {
            const T *rows = weights + (long)h * size.padded, *e = erase + h * vector_stride,
                    *a = add + h * vector_stride;
            T *de = derase + h * dvector_stride, *da = dadd + h * dvector_stride;
            const bool last = h == heads - 1;  // D is not needed after it
            in_blocks(size.slots, [&](int first, auto count) {
                constexpr int kSlots = decltype(count)::value;
                Vec<T> dweight[kSlots] = {};
                in_vectors<T>(size.word, [&](int w, auto part) {
                    const Vec<T> own = part.load(e + w), added = part.load(a + w);
                    Vec<T> total_erase = first ? part.load(de + w) : Vec<T>{};
                    Vec<T> total_add = first ? part.load(da + w) : Vec<T>{};
                    for (int n = 0; n < kSlots; n++) {
                        const long at = (long)(first + n) * size.row + w;
                        const T weight = rows[first + n];
                        Vec<T> d = load<T>(dmemory + at), kept = load<T>(before + at);
                        Vec<T> passed = d - d * weight * own;
                        for (int i = 0; i < heads; i++) {
                            if (i == h) continue;
                            const Vec<T> erased =
                                weights[(long)i * size.padded + first + n] * part.load(erase + i * vector_stride + w);
                            kept -= kept * erased;
                            passed -= passed * erased;
                        }
                        total_add += d * weight;
                        total_erase -= d * kept * weight;
                        dweight[n] += d * (added - kept * own);
                        if (last) store<T>(dmemory + at, passed);
                    }
                    part.store(de + w, total_erase), part.store(da + w, total_add);
                });
                for (int n = 0; n < kSlots; n++) dweights[(long)h * size.padded + first + n] += sum<T>(dweight[n]);
            });
        }
    });
}

}  // namespace mnemon::by_slot
