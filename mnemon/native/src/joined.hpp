// Several DNC memories of one size under one controller (mnemon/memory/joined.py). Each has a part of the interface
// vector, of what is read, of the record and of the content to itself. Of the state, the tensors of the first come first,
// but for what was read, which is one tensor for all and comes last.
#pragma once

#include <vector>

#include "dnc.hpp"

namespace mnemon {

template <class T> struct JoinedMemory {
    int count, interface, reads, kStates;  // interface and reads of one
    long xi;
    std::vector<DNCMemory<T>> parts;
    long content, carry, content_size, carry_size, scratch_size;

    JoinedMemory(const Config& c, Places<T>& places)
        : count(c.parts), interface(c.interface / count), reads(c.reads / count * c.word),
          kStates(count * kOwnStates + 1), xi(places.take(c.interface)), parts(of_one(c, places)),
          content(parts[0].content_size), carry(parts[0].carry_size), content_size(count * content),
          carry_size(count * carry), scratch_size(parts[0].scratch_size) {}

    void begin(T* record, T* memory, const T* const* state, long row) const {
        for (int i = 0; i < count; i++) parts[i].begin(record, memory + i * content, state + i * kOwnStates, row);
    }
    void end(const T* record, const T* memory, T* const* state, long row) const {
        for (int i = 0; i < count; i++) parts[i].end(record, memory + i * content, state + i * kOwnStates, row);
    }
    void begin_backward(T* carries, const T* const* dstate, long row) const {
        for (int i = 0; i < count; i++) parts[i].begin_backward(carries + i * carry, dstate + i * kOwnStates, row);
    }
    void end_backward(T* carries, T* const* dstate, long row) const {
        for (int i = 0; i < count; i++) parts[i].end_backward(carries + i * carry, dstate + i * kOwnStates, row);
    }

    void forward(T* record, const T* before, T* memory, T* read, bool write, T* scratch) const {
        for (int i = 0; i < count; i++) {
            T* own = record + parts[i].xi;
            copy(own, record + xi + i * interface, interface);
            zero_padding(own, interface);
            parts[i].forward(record, before, memory + i * content, read + i * reads, write, scratch);
        }
    }
    void replay(const T* record, const T* before, const T* memory_before, T* memory_after, bool write,
                bool last) const {
        for (int i = 0; i < count; i++)
            parts[i].replay(record, before, memory_before + i * content, memory_after + i * content, write, last);
    }
    void backward(const T* record, const T* before, const T* memory_before, const T* memory_after, const T* dread,
                  T* carries, T* dxi, bool write, T* scratch) const {
        for (int i = 0; i < count; i++)
            parts[i].backward(record, before, memory_before + i * content, memory_after + i * content,
                              dread + i * reads, carries + i * carry, dxi + i * interface, write, scratch);
    }

  private:
    static constexpr int kOwnStates = DNCMemory<T>::kStates - 1;  // without what was read

    static std::vector<DNCMemory<T>> of_one(Config c, Places<T>& places) {
        c.interface /= c.parts;
        c.reads /= c.parts;
        std::vector<DNCMemory<T>> made;
        for (int i = 0; i < c.parts; i++) made.emplace_back(c, places);
        return made;
    }
};

}  // namespace mnemon
