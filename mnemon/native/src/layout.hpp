// Between the tensors of a state, which are packed, and the arrays that kernels walk, which are padded.
#pragma once

#include "addressing.hpp"

namespace mnemon {

// A memory: (N, W) slot by slot in the tensor, (W, padded N) word by word here.
template <class T> void memory_in(const T* tensor, int slots, int word, T* memory) {
    const int all = padded<T>(slots);
    for (int w = 0; w < word; w++) {
        for (int n = 0; n < slots; n++) memory[(long)w * all + n] = tensor[(long)n * word + w];
        zero_padding(memory + (long)w * all, slots);
    }
}
template <class T> void memory_out(const T* memory, int slots, int word, T* tensor) {
    const int all = padded<T>(slots);
    for (int n = 0; n < slots; n++)
        for (int w = 0; w < word; w++) tensor[(long)n * word + w] = memory[(long)w * all + n];
}

// Rows of numbers: weightings, usage, links.
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
