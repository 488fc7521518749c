// The gradient of a weight that all steps share: G = Σ_k left_kᵀ right_k over the steps of all rows, or some of them.
//
// Torch has such products made by a library that does not use the whole width of every processor's vectors. A number is
// summed up in the same order whatever the threads, each of which has some of the columns.
#pragma once

#include "addressing.hpp"
#include "parallel.hpp"

namespace mnemon {

// What there was at every step: so many numbers, and how far it is to those of the next.
template <class T> struct Side {
    const T* at;
    int numbers;
    long stride;
};

constexpr int kTogether = 64;  // steps: both their sides stay in the cache

template <class T> class OverSteps {
  public:
    // `which` are the steps that count, or it is null where all do.
    OverSteps(long steps, const int64_t* which, Side<T> left, Side<T> right)
        : steps(steps), which(which), left(left), right(right) {}

    void sum(T* to, int threads) const {
        const int vectors = padded<T>(right.numbers) / kLanes<T>, parts = std::min(threads, vectors);
        in_parallel(parts, parts, [&](int part) {
            const int first = vectors * part / parts * kLanes<T>, end = vectors * (part + 1) / parts * kLanes<T>;
            sum_columns({right.at + first, std::min(end, right.numbers) - first, right.stride}, to + first);
        });
    }

  private:
    long steps;
    const int64_t* which;
    Side<T> left, right;

    void sum_columns(Side<T> columns, T* to) const {
        static thread_local Workspace own;
        const int rows = left.numbers, width = padded<T>(columns.numbers);
        T* sums = own.get<T>((long)rows * width + (long)kTogether * (width + std::max(rows, width)));
        T *panels = sums + (long)rows * width, *room = panels + (long)kTogether * width;
        set_zero(sums, (long)rows * width);
        for (long step = 0; step < steps; step += kTogether) {
            const int depth = (int)std::min((long)kTogether, steps - step);
            const Panels<T> product(depth, columns.numbers);
            gather(columns, step, depth, room);
            product.pack(panels, room, columns.numbers, 1);
            gather(left, step, depth, room);
            product.product({room, 1, sums, width, sums, width, rows}, rows, panels);
        }
        for (int row = 0; row < rows; row++) copy(to + (long)row * right.numbers, sums + (long)row * width, columns.numbers);
    }

    // A few of the steps that count, one after the other: read in the order in which they lie.
    void gather(Side<T> side, long step, int depth, T* to) const {
        for (int k = 0; k < depth; k++)
            copy(to + (long)k * side.numbers, side.at + (which ? which[step + k] : step + k) * side.stride, side.numbers);
    }
};

}  // namespace mnemon
