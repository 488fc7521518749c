// No memory (mnemon/memory/none.py): the controller alone.
#pragma once

#include "config.hpp"

namespace mnemon {

template <class T> struct NoMemory {
    static constexpr int kStates = 1;  // reads, which have no numbers
    long xi = 0, content_size = 0, carry_size = 0, scratch_size = 0;

    NoMemory(const Config&, Places<T>&) {}
    void begin(T*, T*, const T* const*, long) const {}
    void end(const T*, const T*, T* const*, long) const {}
    void begin_backward(T*, const T* const*, long) const {}
    void end_backward(T*, T* const*, long) const {}
    void forward(T*, const T*, T*, T*, bool, T*) const {}
    void replay(const T*, const T*, const T*, T*, bool, bool) const {}
    void backward(const T*, const T*, const T*, const T*, const T*, T*, T*, bool, T*) const {}
};

}  // namespace mnemon
