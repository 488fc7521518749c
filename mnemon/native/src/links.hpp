// Temporal links: in which order the DNC's slots were written, forward and backward, for one sample.
//
//   L_t[i,j] = (1 − w(i) − w(j)) L_{t−1}[i,j] + w(i) p_{t−1}(j),   L_t[i,i] = 0
//   f_r(i) = Σ_j L[i,j] w_r(j),     b_r(j) = Σ_i L[i,j] w_r(i)
//
// L is the largest thing there is, so it goes through the cache once, a few rows at a time: all that is done to these
// rows is done while they are near.
#pragma once

#include <algorithm>

#include "addressing.hpp"

namespace mnemon {

constexpr int kRowsNear = 16;

// Rows first … last − 1 of L_t; in place when before == after.
template <class T>
void update_links(const T* before, T* after, int first, int last, int slots, const T* precedence, const T* written) {
    for (int i = first; i < last; i++) {
        const long row = (long)i * slots;
        const T w = written[i];
        for (int j = 0; j < slots; j += kLanes<T>)
            store<T>(after + row + j, (1 - w - load<T>(written + j)) * load<T>(before + row + j) +
                                          w * load<T>(precedence + j));
        after[row + i] = 0;
    }
}

// to[h][i] += Σ_j rows[i][j] from[h][j] for rows i and heads h of a block.
template <class T, int Rows, int Heads>
MNEMON_INLINE void follow_block(const T* rows, int slots, const T* from, T* to) {
    Vec<T> total[Rows * Heads] = {};
    for (int j = 0; j < slots; j += kLanes<T>) {
        Vec<T> link[Rows];
        for (int m = 0; m < Rows; m++) link[m] = load<T>(rows + (long)m * slots + j);
        for (int h = 0; h < Heads; h++) {
            const Vec<T> weight = in_register<T>(load<T>(from + (long)h * slots + j));
            for (int m = 0; m < Rows; m++) total[h * Rows + m] += link[m] * weight;
        }
    }
    T sums[Rows * Heads];
    sums_of<T, Rows * Heads>(total, sums);
    for (int h = 0; h < Heads; h++)
        for (int m = 0; m < Rows; m++) to[(long)h * slots + m] += sums[h * Rows + m];
}

// The same for `count` rows and all heads.
template <class T> void follow(const T* rows, int count, int slots, int heads, const T* from, T* to) {
    in_blocks(heads, [&](int head, auto heads_together) {
        constexpr int kHeads = decltype(heads_together)::value, kRows = std::max(8, kLanes<T>) / kHeads;
        const T* weights = from + (long)head * slots;
        T* sums = to + (long)head * slots;
        int i = 0;
        for (; i + kRows <= count; i += kRows)
            follow_block<T, kRows, kHeads>(rows + (long)i * slots, slots, weights, sums + i);
        for (; i < count; i++) follow_block<T, 1, kHeads>(rows + (long)i * slots, slots, weights, sums + i);
    });
}

// to[h][j] += Σ_i from[h][i] rows[i][j] for `count` rows.
template <class T> void retrace(const T* rows, int count, int slots, int heads, const T* from, T* to) {
    product<T>({from, slots, to, slots, to, slots}, heads, slots, count, rows, slots);
}

// x with 0 at a lane, if there is one of that number.
template <class T> MNEMON_INLINE Vec<T> without_lane(Vec<T> x, int number) {
    typename Lanes<T>::Integers lane{};
    for (int i = 0; i < kLanes<T>; i++) lane[i] = i;
    return lane == number ? Vec<T>{} : x;
}

// What the backward pass over L reads and adds to, all of one step. Weightings are padded rows.
template <class T> struct LinkGradients {
    int used, slots, heads;                                 // N, padded N, R
    const T *before, *written, *precedence, *read_weights;  // L_{t−1}, w_t, p_{t−1}, w^r_{t−1}
    const T *dforward, *dbackward;                          // df_r, db_r
    T *dlinks, *dwritten, *dprecedence, *dread_weights;
};

// A block of rows i … and columns j …. The reads give D[i,j] = Σ_r df_r(i) w_r(j) + w_r(i) db_r(j) to the links they
// followed. The update gives, with D the gradient of L_t (0 on the diagonal):
//   dw(i) += Σ_j D (p(j) − L_{t−1}),  dw(j) −= Σ_i D L_{t−1},  dp(j) += Σ_i D w(i),  dL_{t−1} = (1 − w(i) − w(j)) D.
// to[m] sums dw(i) over columns; `after` receives rows i … of L_t, if the reads followed them. The rows that come next
// are on their way meanwhile.
template <class T, int Rows, int Vectors, bool kWrite, bool kReadFirst>
MNEMON_INLINE void link_block_backward(const LinkGradients<T>& g, int i, int j, Vec<T>* to, T* after) {
    const long slots = g.slots;
    Vec<T> through[Rows][Vectors] = {};
    for (int r = 0; r < g.heads; r++) {
        Vec<T> weight[Vectors], dbackward[Vectors];
        for (int n = 0; n < Vectors; n++) {
            weight[n] = in_register<T>(load<T>(g.read_weights + r * slots + j + n * kLanes<T>));
            dbackward[n] = in_register<T>(load<T>(g.dbackward + r * slots + j + n * kLanes<T>));
        }
        for (int m = 0; m < Rows; m++) {
            const Vec<T> dforward = spread<T>(g.dforward[r * slots + i + m]);
            const Vec<T> own = spread<T>(g.read_weights[r * slots + i + m]);
            for (int n = 0; n < Vectors; n++) through[m][n] += dforward * weight[n];
            for (int n = 0; n < Vectors; n++) through[m][n] += own * dbackward[n];
        }
    }
    const bool diagonal = kWrite && j < i + Rows && i < j + Vectors * kLanes<T>;
#pragma GCC unroll 4  // so that `through` stays in registers
    for (int n = 0; n < Vectors; n++) {
        const int column = j + n * kLanes<T>;
        Vec<T> written{}, precedence{}, dwritten{}, dprecedence{};
        if (kWrite) {
            written = load<T>(g.written + column), precedence = load<T>(g.precedence + column);
            dwritten = load<T>(g.dwritten + column), dprecedence = load<T>(g.dprecedence + column);
        }
        for (int m = 0; m < Rows; m++) {
            const long at = (i + m) * slots + column;
            __builtin_prefetch(g.dlinks + at + kRowsNear * slots, 1, 2);
            __builtin_prefetch(g.before + at + kRowsNear * slots, 0, 2);
            Vec<T> d = load<T>(g.dlinks + at);
            if (!kWrite || !kReadFirst) d += through[m][n];
            if (kWrite) {
                if (diagonal) d = without_lane<T>(d, i + m - column);
                const T w = g.written[i + m];
                const Vec<T> link = load<T>(g.before + at), scale = 1 - w - written;
                to[m] += d * (precedence - link);
                dwritten -= d * link;
                dprecedence += d * w;
                d *= scale;
                if (kReadFirst) d += through[m][n];
                else store<T>(after + m * slots + column, scale * link + w * precedence);
            }
            store<T>(g.dlinks + at, d);
        }
        if (kWrite) store<T>(g.dwritten + column, dwritten), store<T>(g.dprecedence + column, dprecedence);
    }
}

// The whole of L, a few rows at a time; near has room for kRowsNear rows. g is a copy: what is stored through a pointer
// might otherwise be one of its own fields, for all the compiler knows.
template <class T, bool kWrite, bool kReadFirst> void links_backward(const LinkGradients<T> g, T* near) {
    for (int first = 0; first < g.used; first += kRowsNear) {
        const int count = std::min(kRowsNear, g.used - first);
        Vec<T> to[kRowsNear] = {};
        in_blocks(count, [&](int row, auto rows_together) {
            constexpr int kRows = decltype(rows_together)::value, kWide = 2;
            Vec<T> own[kRows] = {};
            T* after = near + (long)row * g.slots;
            int j = 0;
            for (; j + kWide * kLanes<T> <= g.slots; j += kWide * kLanes<T>)
                link_block_backward<T, kRows, kWide, kWrite, kReadFirst>(g, first + row, j, own, after);
            for (; j < g.slots; j += kLanes<T>)
                link_block_backward<T, kRows, 1, kWrite, kReadFirst>(g, first + row, j, own, after);
            for (int m = 0; m < kRows; m++) to[row + m] = own[m];
        });
        if (kWrite) {
            T sums[kRowsNear];
            sums_of<T, kRowsNear>(to, sums);
            for (int m = 0; m < count; m++) g.dwritten[first + m] += sums[m];
            for (int m = 0; m < count; m++) near[(long)m * g.slots + first + m] = 0;
        }
        const T* followed = kWrite && !kReadFirst ? near : g.before + (long)first * g.slots;
        retrace(followed, count, g.slots, g.heads, g.dforward + first, g.dread_weights);
        follow(followed, count, g.slots, g.heads, g.dbackward, g.dread_weights + first);
    }
}

}  // namespace mnemon
