// Between the tensors of a state, which are packed, and the arrays that kernels walk, which are padded.
#pragma once

#include "addressing.hpp"

namespace mnemon {

// Rows of numbers: weightings, usage, links, slots.
template <class T> void rows_in(const T* tensor, int count, int length, T* rows) {
    const int all = padded<T>(length);
    for (int h = 0; h < count; h++) {
        std::memcpy(rows + (long)h * all, tensor + (long)h * length, length * sizeof(T));
        zero_padding(rows + (long)h * all, length);
    }
}
template <class T> void rows_out(const T* rows, int count, int length, T* tensor) {
    const int all = padded<T>(length);
    for (int h = 0; h < count; h++)
        std::memcpy(tensor + (long)h * length, rows + (long)h * all, length * sizeof(T));
}

}  // namespace mnemon
