// Interfaces: what becomes of the numbers that the network's product makes of h, up to the vector ξ that steers the
// memory, one sample and one step at a time. These numbers lie in the record of an access.
//
// A linear interface's numbers are ξ. Stored programs (mnemon/programs.py) have the output o_p of every program p, and
// after them for every store s a query [k, β]. A store owns a stretch of ξ, and
//   c_sp = cos(k_s, key_sp),   w_s = softmax_p((β_s c_sp + noise) / temperature),   ξ_x = Σ_p w_sp o_px for x of s,
// or, where a single program is drawn, with a one for the largest w_sp in place of w_s (and w_s on the way back).
//
// Either's ξ may be normalised; `norm` has X gains, then X biases.
#pragma once

#include "addressing.hpp"
#include "config.hpp"
#include "normalising.hpp"

namespace mnemon {

template <class T> struct Interface {
    int X, P, S, K, raw_size, width;  // ξ, programs (0: linear), stores, key, numbers of a step, of a linear one padded
    bool squashed, drawn, normalised;
    T temperature;
    long raw, cosine, mixed, chosen;  // places in a record: the numbers, c, w, and what runs
    long normal, scale, norm_size;    // what is kept of a normalisation, and the numbers of norm

    Interface(const Config& c, Places<T>& places)
        : X(c.interface), P(c.programs), S(c.stores), K(c.key), raw_size(numbers(c)),
          width(controllers(c) * padded<T>(X / controllers(c))), squashed(c.squashed_keys), drawn(c.drawn),
          normalised(c.normalised), temperature((T)c.temperature), raw(places.take(P ? raw_size : 0)),
          cosine(places.take(S * P)), mixed(places.take(S * P)), chosen(drawn ? places.take(S * P) : mixed),
          normal(places.take(normalised ? X : 0)), scale(places.take(normalised)), norm_size(normalised ? 2L * X : 0) {}

    static int numbers(const Config& c) {
        return c.programs ? c.programs * c.interface + c.stores * (c.key + 1) : c.interface;
    }

    // keys: S P K; ends: where each store's stretch of ξ ends; noise: S P, or null.
    void forward(T* record, const T* from, T* xi, const T* keys, const int64_t* ends, const T* noise,
                 const T* norm) const {
        if (P) run_programs(record, from, xi, keys, ends, noise);
        else copy(xi, from, width);
        if (normalised) normalise_parts<T, 1>(xi, X, norm, norm + X, record + normal, record + scale);
    }

    // In place: from dξ to that of what was normalised. The gradient of norm is added up over the steps.
    void normalise_backward(const T* record, T* dxi, const T* norm, T* dnorm) const {
        if (normalised)
            normalise_parts_backward<T, 1>(dxi, X, norm, record + normal, record + scale, dnorm, dnorm + X);
    }

    // From dξ to the gradient of the step's numbers; that of the keys is added up over the steps. dw has room for P
    // numbers. With d = dξ:
    //   do_px = w_sp d_x,   dw_sp = Σ_x d_x o_px,   dz_sp = w_sp (dw_sp − Σ_q w_sq dw_sq) / temperature,
    //   dβ = Σ_p dz_sp c_sp, on through the slope of softplus, σ = 1 − e^−β, and with e = β dz, i = 1/‖k‖, j = 1/‖key‖:
    //   dk = Σ_p e_p (i j_p key_p − i² c_p k),   dkey_p += e_p (i j_p k − j_p² c_p key_p).
    void backward(const T* record, const T* dxi, const T* keys, const int64_t* ends, T* dkeys, T* draw, T* dw) const {
        for (int s = 0, first = 0; s < S; first = (int)ends[s++]) {
            const T *run = record + chosen + s * P, *w = record + mixed + s * P, *c = record + cosine + s * P;
            const T *k = query(record, s), beta = k[K], i = inverse_length(k, K);
            T *dk = draw + (k - (record + raw)), inner = 0, dbeta = 0;
            for (int p = 0; p < P; p++) {
                const T* output = record + raw + (long)p * X;
                T total = 0;
                for (int x = first; x < ends[s]; x++) {
                    draw[(long)p * X + x] = run[p] * dxi[x];
                    total += dxi[x] * output[x];
                }
                inner += w[p] * (dw[p] = total);
            }
            std::fill(dk, dk + K, (T)0);
            for (int p = 0; p < P; p++) {
                const T slope = w[p] * (dw[p] - inner) / temperature, e = beta * slope;
                const T *key = keys + ((long)s * P + p) * K, j = inverse_length(key, K);
                T* dkey = dkeys + ((long)s * P + p) * K;
                dbeta += slope * c[p];
                for (int n = 0; n < K; n++) {
                    dk[n] += e * i * (j * key[n] - i * c[p] * k[n]);
                    dkey[n] += e * j * (i * k[n] - j * c[p] * key[n]);
                }
            }
            if (squashed)
                for (int n = 0; n < K; n++) dk[n] *= 1 - k[n] * k[n];
            dk[K] = dbeta * (1 - std::exp(-beta));
        }
    }

  private:
    template <class Record> Record* query(Record* record, int s) const {
        return record + raw + (long)P * X + (long)s * (K + 1);
    }

    // ξ without its normalisation.
    void run_programs(T* record, const T* from, T* xi, const T* keys, const int64_t* ends, const T* noise) const {
        copy(record + raw, from, raw_size);
        for (int s = 0, x = 0; s < S; s++) {
            T *w = record + mixed + s * P, *run = record + chosen + s * P;
            look_up(record, s, keys + (long)s * P * K, noise ? noise + s * P : nullptr, w);
            if (drawn) {
                std::fill(run, run + P, (T)0);
                run[std::max_element(w, w + P) - w] = 1;
            }
            for (; x < ends[s]; x++) {
                T total = 0;
                for (int p = 0; p < P; p++) total += run[p] * record[raw + (long)p * X + x];
                xi[x] = total;
            }
        }
        zero_padding(xi, X);
    }

    // w_s; leaves the query activated in the record.
    void look_up(T* record, int s, const T* keys, const T* noise, T* w) const {
        T* k = query(record, s);
        if (squashed)
            for (int n = 0; n < K; n++) k[n] = std::tanh(k[n]);
        k[K] = softplus(k[K]);
        const T i = inverse_length(k, K);
        T most = 0, total = 0;
        for (int p = 0; p < P; p++) {
            const T* key = keys + (long)p * K;
            T inner = 0;
            for (int n = 0; n < K; n++) inner += k[n] * key[n];
            const T c = inner * i * inverse_length(key, K);
            record[cosine + s * P + p] = c;
            w[p] = (k[K] * c + (noise ? noise[p] : 0)) / temperature;
            most = p ? std::max(most, w[p]) : w[p];
        }
        for (int p = 0; p < P; p++) total += w[p] = std::exp(w[p] - most);
        for (int p = 0; p < P; p++) w[p] /= total;
    }
};

}  // namespace mnemon
