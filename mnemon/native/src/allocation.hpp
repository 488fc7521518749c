// Allocation: writing where the DNC's memory is used least, forward and backward, for one sample.
#pragma once

#include <algorithm>

#include "addressing.hpp"

namespace mnemon {

// For few slots, counting how many come before each is cheaper than a sort: it has no branches.
constexpr int kCountedSlots = 512;

// φ: the slots from least to most used; of slots that are used alike, the first comes first. keys and order have room
// for one padded row.
template <class T> void from_least_used(const T* used, int slots, T* keys, int32_t* order) {
    const int all = padded<T>(slots);
    settle_ties(used, slots, keys);
    if (slots > kCountedSlots) {
        for (int i = 0; i < slots; i++) order[i] = i;
        std::stable_sort(order, order + slots, [&](int a, int b) { return keys[a] < keys[b]; });
        return;
    }
    using Count = typename Lanes<T>::Integers;
    Count lanes{};
    for (int lane = 0; lane < kLanes<T>; lane++) lanes[lane] = lane;
    set_zero(order, all);  // a usage that is not a number has no place; its slot must still be one
    for (int i = slots; i < all; i++) keys[i] = (T)1e30;
    for (int i = 0; i < all; i += kLanes<T>) {
        const Vec<T> own = load<T>(keys + i);
        Count before{}, before_too{};  // true is −1
        for (int k = 0; k < i; k += 2) {
            before += spread<T>(keys[k]) <= own;
            before_too += spread<T>(keys[k + 1]) <= own;
        }
        for (int k = i; k < i + kLanes<T>; k++) {
            const Count earlier = lanes > k - i;
            before += (spread<T>(keys[k]) < own) | ((spread<T>(keys[k]) == own) & earlier);
        }
        for (int k = i + kLanes<T>; k < all; k += 2) {
            before += spread<T>(keys[k]) < own;
            before_too += spread<T>(keys[k + 1]) < own;
        }
        before += before_too;
        for (int lane = 0; lane < kLanes<T> && i + lane < slots; lane++) order[-before[lane]] = i + lane;
    }
}

template <class T> MNEMON_INLINE Vec<T> off_zero(Vec<T> used) { return (T)kEpsilon + (1 - (T)kEpsilon) * used; }

// With u ← ε + (1−ε) u: P[φ_j] = Π_{i<j} u[φ_i];  a = (1 − u) P.
template <class T> void multiply_less_used(const T* used, int slots, T* scratch, int32_t* order, T* products) {
    from_least_used(used, slots, scratch, order);
    for (int j = 0; j < padded<T>(slots); j += kLanes<T>) store<T>(scratch + j, off_zero<T>(load<T>(used + j)));
    set_zero(products, padded<T>(slots));
    T product = 1;
    for (int k = 0; k < slots; k++) {
        products[order[k]] = product;
        product *= scratch[order[k]];
    }
}
template <class T> MNEMON_INLINE Vec<T> allocation(const T* used, const T* products) {
    return (1 - off_zero<T>(load<T>(used))) * load<T>(products);
}

// From the last of φ to the first, with G_j the gradient of P_j from there on: P_{j+1} = u_j P_j, so
//   du_j = (G_{j+1} − da_j) P_j,      G_j = (1 − u_j) da_j + u_j G_{j+1}.
template <class T>
void allocation_backward(const T* used, int slots, const int32_t* order, const T* products, const T* dallocated,
                         T* dused) {
    T later = 0;
    for (int k = slots - 1; k >= 0; k--) {
        const int i = order[k];
        const T u = (T)kEpsilon + (1 - (T)kEpsilon) * used[i], d = dallocated[i];
        dused[i] += (1 - (T)kEpsilon) * (later - d) * products[i];
        later = (1 - u) * d + u * later;
    }
}

}  // namespace mnemon
