// Controllers, one sample and one step at a time. The matrix products are the network's (network.hpp): a controller
// turns its preactivations a = W_x x + W_r r + W_h h + b into the new hidden state, and back.
//
// forward(record, before, h_before, h, extra): `record` holds the preactivations at `pre` and keeps what backward needs;
// `h` receives h_t. backward receives dh and returns da; whatever reaches the previous state
// past the matrices goes into `carry` (the cell) and `dhidden_before`.
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

    void forward(T* record, const T*, const T*, T* h, const T*) const {
        map(record + pre, h, hidden, [](Vec<T> a) { return hyperbolic_tangent(a); });
        std::memcpy(record + pre, h, hidden * sizeof(T));
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
        const int H = hidden;
        T* r = record + pre;
        map(r, r, 2 * H, [](Vec<T> x) { return sigmoid<T>(x); });
        for (int k = 0; k < H; k++) r[2 * H + k] += r[k] * r[3 * H + k];
        map(r + 2 * H, r + 2 * H, H, [](Vec<T> x) { return hyperbolic_tangent(x); });
        for (int k = 0; k < H; k++) h[k] = r[2 * H + k] + r[H + k] * (h_before[k] - r[2 * H + k]);
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
        const int H = hidden;
        T *i = record + pre, *f = i + H, *g = f + H, *o = g + H;
        map(i, i, 2 * H, [](Vec<T> x) { return sigmoid<T>(x); });
        map(g, g, H, [](Vec<T> x) { return hyperbolic_tangent(x); });
        map(o, o, H, [](Vec<T> x) { return sigmoid<T>(x); });
        T* c = record + cell;
        const T* c_before = before + cell;
        for (int k = 0; k < H; k++) c[k] = f[k] * c_before[k] + i[k] * g[k];
    }

    // h = o tanh(c)
    void leave(T* record, T* h) const {
        T* tanh_c = record + squashed;
        const T* o = record + pre + 3 * hidden;
        map(record + cell, tanh_c, hidden, [](Vec<T> x) { return hyperbolic_tangent(x); });
        for (int k = 0; k < hidden; k++) h[k] = o[k] * tanh_c[k];
    }

    // dc += dh o (1 − tanh² c);  do = dh tanh(c) through its slope
    void leave_backward(const T* record, const T* dh, T* __restrict dc, T* __restrict da) const {
        const T *o = record + pre + 3 * hidden, *tanh_c = record + squashed;
        T* dleave = da + 3 * hidden;
        for (int k = 0; k < hidden; k++) {
            dc[k] += dh[k] * o[k] * (1 - tanh_c[k] * tanh_c[k]);
            dleave[k] = dh[k] * tanh_c[k] * o[k] * (1 - o[k]);
        }
    }

    // di = dc g, df = dc c_{t−1}, dg = dc i, each through its slope;  dc becomes dc_{t−1} = dc f
    void enter_backward(const T* record, const T* before, T* __restrict dc, T* __restrict da) const {
        const int H = hidden;
        const T *i = record + pre, *f = i + H, *g = f + H, *c_before = before + cell;
        for (int k = 0; k < H; k++) {
            da[k] = dc[k] * g[k] * i[k] * (1 - i[k]);
            da[H + k] = dc[k] * c_before[k] * f[k] * (1 - f[k]);
            da[2 * H + k] = dc[k] * i[k] * (1 - g[k] * g[k]);
            dc[k] *= f[k];
        }
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
        for (int which = 0; which < kCell; which++) normalise(record, which, record + pre + which * hidden, extra);
        this->enter(record, before);
        normalise(record, kCell, record + cell, extra);
        this->leave(record, h);
    }
    void backward(const T* record, const T* before, const T*, const T* dh, T* dcell, T* da, T*, const T* extra,
                  T* dextra) const {
        this->leave_backward(record, dh, dcell, da);
        normalise_backward(record, kCell, dcell, extra, dextra);
        this->enter_backward(record, before, dcell, da);
        for (int which = 0; which < kCell; which++)
            normalise_backward(record, which, da + which * hidden, extra, dextra);
    }

  private:
    // In place: y = gain x̂ + bias with x̂ = (x − μ) s, s = 1/√(σ² + ε), where μ and σ² are the mean and variance of x.
    // The record keeps x̂ and s.
    void normalise(T* record, int which, T* x, const T* extra) const {
        const int H = hidden;
        const T *gain = extra + which * H, *bias = extra + (5 + which) * H;
        T* kept = record + normal + which * H;
        const T mean = total(H, [&](int k) { return x[k]; }) / H;
        for (int k = 0; k < H; k++) kept[k] = x[k] - mean;
        const T variance = total(H, [&](int k) { return kept[k] * kept[k]; }) / H;
        const T s = 1 / std::sqrt(variance + (T)1e-5), lift = which == kForget ? 1 : 0;
        record[scale + which] = s;
        for (int k = 0; k < H; k++) {
            kept[k] *= s;
            x[k] = gain[k] * kept[k] + bias[k] + lift;
        }
    }

    // In place: dx from dy. With H numbers, ∂μ/∂x_j = 1/H and ∂s/∂x_j = −s³ (x_j − μ)/H = −s² x̂_j/H, so that
    //   ∂x̂_i/∂x_j = s (δ_ij − 1/H) − (x_i − μ) s² x̂_j/H = s (δ_ij − 1/H − x̂_i x̂_j/H),
    // and with dx̂ = gain dy: dx = s (dx̂ − mean(dx̂) − x̂ mean(dx̂ x̂)). dgain += dy x̂, dbias += dy.
    void normalise_backward(const T* record, int which, T* d, const T* extra, T* dextra) const {
        const int H = hidden;
        const T *gain = extra + which * H, *kept = record + normal + which * H;
        T *dgain = dextra + which * H, *dbias = dextra + (5 + which) * H;
        for (int k = 0; k < H; k++) dgain[k] += d[k] * kept[k];
        for (int k = 0; k < H; k++) dbias[k] += d[k];
        for (int k = 0; k < H; k++) d[k] *= gain[k];
        const T mean = total(H, [&](int k) { return d[k]; }) / H;
        const T along = total(H, [&](int k) { return d[k] * kept[k]; }) / H;
        const T s = record[scale + which];
        for (int k = 0; k < H; k++) d[k] = s * (d[k] - mean - kept[k] * along);
    }

    // Σ_k f(k), in as many partial sums as a vector has lanes.
    template <class F> static MNEMON_INLINE T total(int n, F f) {
        T part[kLanes<T>] = {};
        int k = 0;
        for (; k + kLanes<T> <= n; k += kLanes<T>)
            for (int i = 0; i < kLanes<T>; i++) part[i] += f(k + i);
        for (int i = 0; k < n; k++, i++) part[i] += f(k);
        return sum<T>(load<T>(part));
    }
};

}  // namespace mnemon
