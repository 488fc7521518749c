// Controllers, one sample and one step at a time. The matrix products are the network's (network.hpp): a controller
// turns its preactivations a = W_x x + W_r r + W_h h + b into the new hidden state, and back.
//
// forward(record, before, h_before, h, extra): `record` holds the preactivations at `pre` and keeps what backward needs;
// `h` receives h_t. backward receives dh and returns da; whatever reaches the previous state
// past the matrices goes into `carry` (the cell) and `dhidden_before`.
#pragma once

#include "addressing.hpp"
#include "config.hpp"
#include "normalising.hpp"

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

    void forward(T* record, const T*, const T*, T* h, const T*) const {
        map(record + pre, record + pre, hidden, [](Vec<T> a) { return hyperbolic_tangent(a); });
        std::memcpy(h, record + pre, hidden * sizeof(T));
    }

    // da = dh (1 − h²)
    void backward(const T* record, const T*, const T*, const T* dh, T*, T* da, T*, const T*, T*) const {
        for (int i = 0; i < hidden; i++) da[i] = dh[i] * (1 - record[pre + i] * record[pre + i]);
    }
};

// r, z = σ(a);  n = tanh(a_n + r b_n);  h = n + z (h_{t−1} − n). The preactivations are [r, z, a_n, b_n]: the input's
// and the memory's part of the candidate, a_n, and the hidden state's, b_n.
template <class T> struct GRUController {
    static constexpr int kStates = 1;  // hidden
    int hidden;
    long pre, extra_size = 0, carry_size = 0;

    GRUController(const Config& c, Places<T>& places) : hidden(c.hidden), pre(places.take(4 * c.hidden)) {}
    void begin(T*, const T* const*, long) const {}
    void end(const T*, T* const*, long) const {}
    void begin_backward(T*, const T* const*, long) const {}
    void end_backward(const T*, T* const*, long) const {}

    // Leaves [r, z, n, b_n] in the record.
    void forward(T* record, const T*, const T* h_before, T* h, const T*) const {
        T *r = record + pre, *z = r + hidden, *n = z + hidden, *b = n + hidden;
        in_vectors<T>(hidden, [&](int k, auto part) {
            const Vec<T> reset = sigmoid<T>(part.load(r + k)), update = sigmoid<T>(part.load(z + k));
            const Vec<T> candidate = hyperbolic_tangent(part.load(n + k) + reset * part.load(b + k));
            part.store(r + k, reset), part.store(z + k, update), part.store(n + k, candidate);
            part.store(h + k, candidate + update * (part.load(h_before + k) - candidate));
        });
    }

    // dn = dh (1 − z), da_n = dn (1 − n²), db_n = da_n r, dr = da_n b_n, dz = dh (h_{t−1} − n), dh_{t−1} += dh z;
    // r and z through the slope of σ.
    void backward(const T* record, const T*, const T* h_before, const T* dh, T*, T* __restrict da,
                  T* __restrict dhidden_before, const T*, T*) const {
        const int H = hidden;
        const T *r = record + pre, *z = r + H, *n = z + H, *b = n + H;
        for (int k = 0; k < H; k++) {
            const T dn = dh[k] * (1 - z[k]) * (1 - n[k] * n[k]);
            da[k] = dn * b[k] * r[k] * (1 - r[k]);
            da[H + k] = dh[k] * (h_before[k] - n[k]) * z[k] * (1 - z[k]);
            da[2 * H + k] = dn;
            da[3 * H + k] = dn * r[k];
            dhidden_before[k] += dh[k] * z[k];
        }
    }
};

// What the two kinds of LSTM share: the cell, which the record carries, and the steps to it and from it.
template <class T> struct LSTMParts {
    static constexpr int kStates = 2;  // hidden, cell
    int hidden;
    long pre, cell, squashed, carry_size;

    LSTMParts(const Config& c, Places<T>& places)
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

  protected:
    // i, f, o = σ(a), g = tanh(a);  c = f c_{t−1} + i g
    void enter(T* record, const T* before) const {
        T *i = record + pre, *f = i + hidden, *g = f + hidden, *o = g + hidden;
        in_vectors<T>(hidden, [&](int k, auto part) {
            const Vec<T> in = sigmoid<T>(part.load(i + k)), forget = sigmoid<T>(part.load(f + k));
            const Vec<T> candidate = hyperbolic_tangent(part.load(g + k));
            part.store(i + k, in), part.store(f + k, forget), part.store(g + k, candidate);
            part.store(o + k, sigmoid<T>(part.load(o + k)));
            part.store(record + cell + k, forget * part.load(before + cell + k) + in * candidate);
        });
    }

    // h = o tanh(c)
    void leave(T* record, T* h) const {
        const T* o = record + pre + 3 * hidden;
        in_vectors<T>(hidden, [&](int k, auto part) {
            const Vec<T> tanh_c = hyperbolic_tangent(part.load(record + cell + k));
            part.store(record + squashed + k, tanh_c);
            part.store(h + k, part.load(o + k) * tanh_c);
        });
    }

    // dc += dh o (1 − tanh² c);  do = dh tanh(c) through its slope
    void leave_backward(const T* record, const T* dh, T* dc, T* da) const {
        in_vectors<T>(hidden, [&](int k, auto part) {
            const Vec<T> d = part.load(dh + k), tanh_c = part.load(record + squashed + k);
            const Vec<T> o = part.load(record + pre + 3 * hidden + k);
            part.store(dc + k, part.load(dc + k) + d * o * (1 - tanh_c * tanh_c));
            part.store(da + 3 * hidden + k, d * tanh_c * o * (1 - o));
        });
    }

    // di = dc g, df = dc c_{t−1}, dg = dc i, each through its slope;  dc becomes dc_{t−1} = dc f
    void enter_backward(const T* record, const T* before, T* dc, T* da) const {
        in_vectors<T>(hidden, [&](int k, auto part) {
            const T* gates = record + pre + k;
            const Vec<T> i = part.load(gates), f = part.load(gates + hidden), g = part.load(gates + 2 * hidden);
            const Vec<T> d = part.load(dc + k);
            part.store(da + k, d * g * i * (1 - i));
            part.store(da + hidden + k, d * part.load(before + cell + k) * f * (1 - f));
            part.store(da + 2 * hidden + k, d * i * (1 - g * g));
            part.store(dc + k, d * f);
        });
    }
};

// i, f, o = σ(a), g = tanh(a);  c = f c_{t−1} + i g;  h = o tanh(c)
template <class T> struct LSTMController : LSTMParts<T> {
    long extra_size = 0;

    using LSTMParts<T>::LSTMParts;

    void forward(T* record, const T* before, const T*, T* h, const T*) const {
        this->enter(record, before);
        this->leave(record, h);
    }
    void backward(const T* record, const T* before, const T*, const T* dh, T* dcell, T* da, T*, const T*, T*) const {
        this->leave_backward(record, dh, dcell, da);
        this->enter_backward(record, before, dcell, da);
    }
};

// An LSTM whose four preactivations and cell are normalised, each with gains and biases (`extra`: five rows of gains,
// then five of biases); the forget gate is lifted by 1, and the cell that is carried is the normalised one.
template <class T> struct LayerNormLSTMController : LSTMParts<T> {
    using LSTMParts<T>::hidden;
    using LSTMParts<T>::pre;
    using LSTMParts<T>::cell;
    static constexpr int kForget = 1, kCell = 4;  // what is normalised: i, f, g, o, the cell
    long normal, scale, extra_size;

    LayerNormLSTMController(const Config& c, Places<T>& places)
        : LSTMParts<T>(c, places), normal(places.take(5 * c.hidden)), scale(places.take(5)),
          extra_size(10L * c.hidden) {}

    void forward(T* record, const T* before, const T*, T* h, const T* extra) const {
        normalise<0, kCell>(record, record + pre, extra);
        this->enter(record, before);
        normalise<kCell, 1>(record, record + cell, extra);
        this->leave(record, h);
    }
    void backward(const T* record, const T* before, const T*, const T* dh, T* dcell, T* da, T*, const T* extra,
                  T* dextra) const {
        this->leave_backward(record, dh, dcell, da);
        normalise_backward<kCell, 1>(record, dcell, extra, dextra);
        this->enter_backward(record, before, dcell, da);
        normalise_backward<0, kCell>(record, da, extra, dextra);
    }

  private:
    // A few of i, f, g, o, the cell, with their gains, biases and what is kept of them.
    template <int kFirst, int kCount> void normalise(T* record, T* x, const T* extra) const {
        const T* gain = extra + kFirst * hidden;
        normalise_parts<T, kCount, kForget - kFirst>(x, hidden, gain, gain + 5 * hidden, record + normal + kFirst * hidden,
                                                     record + scale + kFirst);
    }
    template <int kFirst, int kCount> void normalise_backward(const T* record, T* d, const T* extra, T* dextra) const {
        T* dgain = dextra + kFirst * hidden;
        normalise_parts_backward<T, kCount>(d, hidden, extra + kFirst * hidden, record + normal + kFirst * hidden,
                                            record + scale + kFirst, dgain, dgain + 5 * hidden);
    }
};

}  // namespace mnemon
