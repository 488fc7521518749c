// Controllers, one sample and one step at a time. The matrix products are the network's (network.hpp): a controller turns
// its preactivations a = W_x x + W_r r + W_h h + b into the new hidden state, and back.
//
// forward(record, before, hidden, extra): `record` holds the preactivations at `pre` and keeps what backward needs;
// `hidden` holds h_{t−1} and receives h_t. backward receives dh and returns da; whatever reaches the previous state past
// the matrices goes into `carry` (the cell) and `dhidden_before`.
#pragma once

#include "addressing.hpp"
#include "config.hpp"

namespace mnemon {

// h = tanh(a): Elman's network, and the feed-forward controller, whose matrix for h is zero.
template <class T> struct TanhController {
    static constexpr int kStates = 1;  // hidden
    int hidden;
    long pre, extra_size = 0, carry_size = 0;

    TanhController(const Config& c, Places<T>& places) : hidden(c.hidden), pre(places.take(c.preactivations)) {}
    void begin(T*, const T* const*, long) const {}
    void end(const T*, T* const*, long) const {}
    void begin_backward(T*, const T* const*, long) const {}
    void end_backward(const T*, T* const*, long) const {}

    void forward(T* record, const T*, T* h, const T*) const {
        map(record + pre, h, hidden, [](Vec<T> a) { return hyperbolic_tangent(a); });
        std::memcpy(record + pre, h, hidden * sizeof(T));
    }

    // da = dh (1 − h²)
    void backward(const T* record, const T*, const T*, const T* dh, T*, T* da, T*, const T*, T*) const {
        for (int i = 0; i < hidden; i++) da[i] = dh[i] * (1 - record[pre + i] * record[pre + i]);
    }
};

// i, f, o = σ(a), g = tanh(a);  c = f c_{t−1} + i g;  h = o tanh(c)
template <class T> struct LSTMController {
    static constexpr int kStates = 2;  // hidden, cell
    int hidden;
    long pre, cell, squashed, extra_size = 0, carry_size;

    LSTMController(const Config& c, Places<T>& places)
        : hidden(c.hidden), pre(places.take(4 * c.hidden)), cell(places.take(c.hidden)),
          squashed(places.take(c.hidden)), carry_size(padded<T>(c.hidden)) {}

    void begin(T* record, const T* const* state, long row) const {
        std::memcpy(record + cell, state[1] + row * hidden, hidden * sizeof(T));
    }
    void end(const T* record, T* const* state, long row) const {
        std::memcpy(state[1] + row * hidden, record + cell, hidden * sizeof(T));
    }
    void begin_backward(T* carry, const T* const* dstate, long row) const {
        if (dstate[1]) std::memcpy(carry, dstate[1] + row * hidden, hidden * sizeof(T));
    }
    void end_backward(const T* carry, T* const* dstate, long row) const {
        std::memcpy(dstate[1] + row * hidden, carry, hidden * sizeof(T));
    }

    void forward(T* record, const T* before, T* h, const T*) const {
        const int H = hidden;
        T *a = record + pre, *c = record + cell, *tanh_c = record + squashed;
        map(a, a, 2 * H, [](Vec<T> x) { return sigmoid<T>(x); });
        map(a + 2 * H, a + 2 * H, H, [](Vec<T> x) { return hyperbolic_tangent(x); });
        map(a + 3 * H, a + 3 * H, H, [](Vec<T> x) { return sigmoid<T>(x); });
        const T* c_before = before + cell;
        for (int k = 0; k < H; k++) c[k] = a[H + k] * c_before[k] + a[k] * a[2 * H + k];
        map(c, tanh_c, H, [](Vec<T> x) { return hyperbolic_tangent(x); });
        for (int k = 0; k < H; k++) h[k] = a[3 * H + k] * tanh_c[k];
    }

    // dc = dc_{t+1} f_{t+1} + dh o (1 − tanh² c);  each gate through its own slope
    void backward(const T* record, const T* before, const T*, const T* dh, T* dcell, T* da, T*, const T*, T*) const {
        const int H = hidden;
        const T *i = record + pre, *f = i + H, *g = f + H, *o = g + H;
        const T *tanh_c = record + squashed, *c_before = before + cell;
        for (int k = 0; k < H; k++) {
            const T dc = dcell[k] + dh[k] * o[k] * (1 - tanh_c[k] * tanh_c[k]);
            da[k] = dc * g[k] * i[k] * (1 - i[k]);
            da[H + k] = dc * c_before[k] * f[k] * (1 - f[k]);
            da[2 * H + k] = dc * i[k] * (1 - g[k] * g[k]);
            da[3 * H + k] = dh[k] * tanh_c[k] * o[k] * (1 - o[k]);
            dcell[k] = dc * f[k];
        }
    }
};

}  // namespace mnemon
