// What a memory holds, N slots of W numbers, and all that is done to it: it lies word by word (addressing.hpp) or slot by
// slot (by_slot.hpp), whichever leaves fewer lanes of vectors empty. The two are the same to those who use it.
#pragma once

#include "by_slot.hpp"
#include "layout.hpp"

namespace mnemon {

template <class T> struct Contents {
    by_slot::Sizes size;
    bool slot_by_slot;

    // Word by word in any case, if its users go over words themselves.
    Contents(int slots, int word, bool word_by_word = false)
        : size{slots, padded<T>(slots), word, padded<T>(word)},
          slot_by_slot(!word_by_word && slots < word && (long)slots * size.row <= (long)word * size.padded) {}

    long numbers() const { return slot_by_slot ? (long)size.slots * size.row : (long)size.word * size.padded; }

    // From and to a tensor, which lies slot by slot and is packed.
    void in(const T* tensor, T* memory) const {
        if (slot_by_slot) return rows_in(tensor, size.slots, size.word, memory);
        for (int w = 0; w < size.word; w++) {
            T* row = memory + (long)w * size.padded;
            for (int n = 0; n < size.slots; n++) row[n] = tensor[(long)n * size.word + w];
            zero_padding(row, size.slots);
        }
    }
    void out(const T* memory, T* tensor) const {
        if (slot_by_slot) return rows_out(memory, size.slots, size.word, tensor);
        for (int n = 0; n < size.slots; n++)
            for (int w = 0; w < size.word; w++) tensor[(long)n * size.word + w] = memory[(long)w * size.padded + n];
    }

    void inverse_lengths(const T* memory, T* inverse) const {
        if (slot_by_slot) by_slot::inverse_lengths(memory, size, inverse);
        else mnemon::inverse_lengths(memory, size.word, size.padded, inverse);
    }

    void look_up(const T* memory, const T* im, int heads, const T* keys, long key_stride, const T* ik,
                 const T* strengths, T* similarity, T* weights) const {
        if (slot_by_slot) by_slot::inner_products(memory, size, heads, keys, key_stride, similarity);
        else inner_products(memory, size.word, size.padded, heads, keys, key_stride, similarity);
        weigh(similarity, im, size.slots, heads, ik, strengths, weights);
    }

    // dweights is used up. scratch has room for one padded row of slots.
    void look_up_backward(const T* memory, const T* im, int heads, const T* keys, long key_stride, const T* ik,
                          const T* strengths, const T* similarity, const T* weights, T* dweights, T* dkeys,
                          long dkey_stride, T* dstrengths, T* dmemory, T* scratch) const {
        weigh_backward(im, size.padded, heads, ik, strengths, similarity, weights, dweights, dstrengths, scratch);
        if (slot_by_slot)
            by_slot::keys_backward(memory, size, heads, keys, key_stride, ik, strengths, dstrengths, dweights, scratch,
                                   dkeys, dkey_stride, dmemory);
        else
            keys_backward(memory, size.word, size.padded, heads, keys, key_stride, ik, strengths, dstrengths, dweights,
                          scratch, dkeys, dkey_stride, dmemory);
    }

    void read(const T* memory, int heads, const T* weights, T* reads) const {
        if (slot_by_slot) by_slot::read(memory, size, heads, weights, reads);
        else mnemon::read(memory, size.word, size.padded, heads, weights, reads);
    }
    void read_backward(const T* memory, int heads, const T* weights, const T* dreads, T* dweights, T* dmemory) const {
        if (slot_by_slot) by_slot::read_backward(memory, size, heads, weights, dreads, dweights, dmemory);
        else mnemon::read_backward(memory, size.word, size.padded, heads, weights, dreads, dweights, dmemory);
    }

    // In place when before == after.
    void erase_and_add(const T* before, T* after, int heads, const T* weights, const T* erase, const T* add,
                       long vector_stride) const {
        if (slot_by_slot) by_slot::erase_and_add(before, after, size, heads, weights, erase, add, vector_stride);
        else
            mnemon::erase_and_add(before, after, size.word, size.padded, heads, weights, erase, add, vector_stride);
    }
    // dmemory holds the gradient after the step and receives that before it.
    void erase_and_add_backward(const T* before, int heads, const T* weights, const T* erase, const T* add,
                                long vector_stride, T* dmemory, T* dweights, T* derase, T* dadd,
                                long dvector_stride) const {
        if (slot_by_slot)
            by_slot::erase_and_add_backward(before, size, heads, weights, erase, add, vector_stride, dmemory, dweights,
                                            derase, dadd, dvector_stride);
        else
            mnemon::erase_and_add_backward(before, size.word, size.padded, heads, weights, erase, add, vector_stride,
                                           dmemory, dweights, derase, dadd, dvector_stride);
    }
};

}  // namespace mnemon
