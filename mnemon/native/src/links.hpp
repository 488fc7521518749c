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
        for (int m = 0; m < Rows; m++) link[m] = in_register<T>(load<T>(rows + (long)m * slots + j));
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

// What the backward pass over L reads and adds to, all of one step. Weightings are padded rows.
template <class T> struct LinkGradients {
    int used, slots, heads;                                 // N, padded N, R
    const T *before, *written, *precedence, *read_weights;  // L_{t−1}, w_t, p_{t−1}, w^r_{t−1}
    const T *dforward, *dbackward;                          // df_r, db_r
    T *dlinks, *dwritten, *dprecedence, *dread_weights;
};

// What the reads give to the links they followed, for a block of rows, columns and heads:
//   D[i,j] += Σ_r df_r(i) w_r(j) + w_r(i) db_r(j).
template <class T, int Rows, int Vectors, int Heads>
MNEMON_INLINE void reads_block_backward(const LinkGradients<T>& g, int i, int j, int head) {
    const long slots = g.slots;
    const T *dforward = g.dforward + head * slots, *dbackward = g.dbackward + head * slots;
    const T* weights = g.read_weights + head * slots;
    T* d = g.dlinks + i * slots + j;
    Vec<T> block[Rows][Vectors];
    for (int m = 0; m < Rows; m++)
        for (int n = 0; n < Vectors; n++) block[m][n] = load<T>(d + m * slots + n * kLanes<T>);
#pragma GCC unroll 4
    for (int h = 0; h < Heads; h++) {
        const long row = h * slots;
        Vec<T> weight[Vectors], backward[Vectors];
        for (int n = 0; n < Vectors; n++) {
            weight[n] = in_register<T>(load<T>(weights + row + j + n * kLanes<T>));
            backward[n] = in_register<T>(load<T>(dbackward + row + j + n * kLanes<T>));
        }
        for (int m = 0; m < Rows; m++) {
            const Vec<T> forward = spread<T>(dforward[row + i + m]), own = spread<T>(weights[row + i + m]);
            for (int n = 0; n < Vectors; n++) block[m][n] += forward * weight[n];
            for (int n = 0; n < Vectors; n++) block[m][n] += own * backward[n];
        }
    }
    for (int m = 0; m < Rows; m++)
        for (int n = 0; n < Vectors; n++) store<T>(d + m * slots + n * kLanes<T>, block[m][n]);
}

// The same for `count` rows and all heads.
template <class T> void reads_backward(const LinkGradients<T>& g, int first, int count) {
    in_blocks(g.heads, [&](int head, auto heads_together) {
        in_blocks(count, [&](int row, auto rows_together) {
            constexpr int kRows = decltype(rows_together)::value, kHeads = decltype(heads_together)::value, kWide = 2;
            int j = 0;
            for (; j + kWide * kLanes<T> <= g.slots; j += kWide * kLanes<T>)
                reads_block_backward<T, kRows, kWide, kHeads>(g, first + row, j, head);
            for (; j < g.slots; j += kLanes<T>) reads_block_backward<T, kRows, 1, kHeads>(g, first + row, j, head);
        });
    });
}

// What the update gives, for rows i …, with D the gradient of L_t (0 on the diagonal) in dlinks:
//   dw(i) += Σ_j D (p(j) − L_{t−1}),  dw(j) −= Σ_i D L_{t−1},  dp(j) += Σ_i D w(i),  dL_{t−1} = (1 − w(i) − w(j)) D.
// `after` receives these rows of L_t, if the reads followed them. The rows that come next are on their way meanwhile.
template <class T, int Rows, bool kFollowed>
MNEMON_INLINE void update_rows_backward(const LinkGradients<T>& g, int i, T* after) {
    const long slots = g.slots, next = kRowsNear * slots;
    const T *before = g.before + i * slots, *written = g.written, *precedence = g.precedence;
    T *dlinks = g.dlinks + i * slots, *dwritten = g.dwritten, *dprecedence = g.dprecedence;
    Vec<T> own[Rows], to[Rows] = {};
    for (int m = 0; m < Rows; m++) own[m] = spread<T>(written[i + m]);
    for (int j = 0; j < slots; j += kLanes<T>) {
        for (int m = 0; m < Rows; m += kLineBytes / kVectorBytes) {
            __builtin_prefetch(dlinks + next + Rows * j + m * kLanes<T>, 0, 2);
            __builtin_prefetch(before + next + Rows * j + m * kLanes<T>, 0, 2);
        }
        const Vec<T> rest = 1 - load<T>(written + j), p = load<T>(precedence + j);
        Vec<T> dw = load<T>(dwritten + j), dp = load<T>(dprecedence + j);
        for (int m = 0; m < Rows; m++) {
            const Vec<T> d = load<T>(dlinks + m * slots + j), link = load<T>(before + m * slots + j);
            const Vec<T> scale = rest - own[m];
            to[m] += d * p;
            to[m] -= d * link;
            dw -= d * link;
            dp += d * own[m];
            store<T>(dlinks + m * slots + j, d * scale);
            if (kFollowed) store<T>(after + m * slots + j, scale * link + own[m] * p);
        }
        store<T>(dwritten + j, dw), store<T>(dprecedence + j, dp);
    }
    for (int m = 0; m < Rows; m++) dwritten[i + m] += sum<T>(to[m]);
}

// The whole of L, a few rows at a time; near has room for kRowsNear rows.
template <class T, bool kWrite, bool kReadFirst> void links_backward(const LinkGradients<T>& g, T* near) {
    constexpr bool kFollowed = kWrite && !kReadFirst;  // the reads followed L_t
    for (int first = 0; first < g.used; first += kRowsNear) {
        const int count = std::min(kRowsNear, g.used - first);
        const long start = (long)first * g.slots, diagonal = g.slots + 1;
        if (!kReadFirst) reads_backward(g, first, count);
        if (kWrite) {
            for (int m = 0; m < count; m++) g.dlinks[start + first + m * diagonal] = 0;
            in_blocks(count, [&](int row, auto rows_together) {
                constexpr int kRows = decltype(rows_together)::value;
                update_rows_backward<T, kRows, kFollowed>(g, first + row, near + (long)row * g.slots);
            });
            for (int m = 0; m < count; m++) near[first + m * diagonal] = 0;
        }
        if (kReadFirst) reads_backward(g, first, count);
        const T* followed = kFollowed ? near : g.before + start;
        retrace(followed, count, g.slots, g.heads, g.dforward + first, g.dread_weights);
        follow(followed, count, g.slots, g.heads, g.dbackward, g.dread_weights + first);
    }
}

}  // namespace mnemon
