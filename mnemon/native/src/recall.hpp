// Recalling the last outputs (CachedUniformWriting in mnemon/writing.py), one sample and one step at a time. What the
// controller goes on from in place of h_{t−1} is, with d_1 … d_L its last L outputs, d_L = h_{t−1},
//   e_j = tanh(W h_{t−1} + V r_{t−1} + U d_j),   s_j = v · e_j,   α = softmax(s),   a = Σ_j α_j d_j.
// The weights lie one after the other: [W, V] of K × (H + Q), U of K × H, v of K. A call packs them once.
#pragma once

#include "addressing.hpp"
#include "config.hpp"

namespace mnemon {

template <class T> struct Recall {
    int H, Q, L, K;  // hidden, numbers read, cached outputs (0: nothing is recalled), attention

  private:
    int Hp, Kp;
    Panels<T> from_seen, from_output, to_seen, to_output;  // [W, V] and U, forward and backward
    Places<T> packed, room;
    // Of the packed weights; and of the scratch: d, e, α, [h, r] and what it asks for, then what backward needs.
    long asking, answering, to_asking, to_answering, scoring;
    long d, e, alpha, seen, asked, dd, dalpha, da, dseen;

  public:
    long weights_size, packed_size, scratch_size;

    explicit Recall(const Config& c)
        : H(c.hidden), Q(c.reads * c.word), L(c.cached), K(c.attention), Hp(padded<T>(H)), Kp(padded<T>(K)),
          from_seen(H + Q, K), from_output(H, K), to_seen(K, H + Q), to_output(K, H),
          asking(packed.take(from_seen.size())), answering(packed.take(from_output.size())),
          to_asking(packed.take(to_seen.size())), to_answering(packed.take(to_output.size())), scoring(packed.take(K)),
          d(room.take((long)L * Hp)), e(room.take((long)L * Kp)), alpha(room.take(L)), seen(room.take(H + Q)),
          asked(room.take(K)), dd(room.take((long)L * Hp)), dalpha(room.take(L)), da(room.take(H)),
          dseen(room.take(H + Q)), weights_size((long)K * (2 * H + Q + 1)), packed_size(packed.used),
          scratch_size(room.used) {}

    void pack(const T* weights, T* to) const {
        const T *u = weights + (long)K * (H + Q), *v = u + (long)K * H;
        from_seen.pack(to + asking, weights, 1, H + Q);
        from_output.pack(to + answering, u, 1, H);
        to_seen.pack(to + to_asking, weights, H + Q, 1);
        to_output.pack(to + to_answering, u, H, 1);
        copy(to + scoring, v, K);
        zero_padding(to + scoring, K);
    }

    void forward(const T* const* outputs, const T* reads, const T* weights, T* a, T* scratch) const {
        attend(outputs, reads, weights, scratch);
        in_vectors<T>(H, [&](int h, auto part) {
            Vec<T> total{};
            for (int j = 0; j < L; j++) total += scratch[alpha + j] * load<T>(scratch + d + j * Hp + h);
            part.store(a + h, total);
        });
    }

    // Takes the forward step again, then with dα_j = da · d_j and ds_j = α_j (dα_j − Σ_i α_i dα_i):
    //   dv = Σ_j ds_j e_j,   g_j = ds_j v ∘ (1 − e_j²),   dd_j = α_j da + Uᵀ g_j,   dU = Σ_j g_j d_jᵀ,
    // and with g = Σ_j g_j: d[W, V] = g [h, r]ᵀ, and [W, V]ᵀ g for h_{t−1}, which is d_L, and for r_{t−1}.
    // All of it is added to what is there.
    void backward(const T* const* outputs, const T* reads, const T* weights, const T* dresult, T* const* doutputs,
                  T* dreads, T* dweights, T* scratch) const {
        attend(outputs, reads, weights, scratch);
        copy(scratch + da, dresult, H);
        zero_padding(scratch + da, H);
        for (int j = 0; j < L; j++) scratch[dalpha + j] = dot(scratch + da, scratch + d + j * Hp, Hp);
        zero_padding(scratch + dalpha, L);
        softmax_backward(scratch + alpha, scratch + dalpha, padded<T>(L));  // is now ds

        T *g = scratch + e, *total = scratch + asked;  // in place of e and of what was asked for
        T *du = dweights + (long)K * (H + Q), *dv = du + (long)K * H;
        set_zero(total, Kp);
        for (int j = 0; j < L; j++) {
            const T ds = scratch[dalpha + j];
            in_vectors<T>(K, [&](int k, auto part) {
                const Vec<T> e_j = load<T>(g + j * Kp + k);
                const Vec<T> g_j = ds * load<T>(weights + scoring + k) * (1 - e_j * e_j);
                part.store(dv + k, part.load(dv + k) + ds * e_j);
                store<T>(g + j * Kp + k, g_j);
                store<T>(total + k, load<T>(total + k) + g_j);
            });
            map<T>(scratch + da, scratch + dd + j * Hp, Hp, [&](Vec<T> x) { return scratch[alpha + j] * x; });
        }
        for (int k = 0; k < K; k++) {
            T *du_k = du + (long)k * H, *dasking = dweights + (long)k * (H + Q);
            in_vectors<T>(H, [&](int h, auto part) {
                Vec<T> sum = part.load(du_k + h);
                for (int j = 0; j < L; j++) sum += g[j * Kp + k] * load<T>(scratch + d + j * Hp + h);
                part.store(du_k + h, sum);
            });
            add(dasking, scratch + seen, H + Q, total[k]);
        }
        to_output.product({g, Kp, scratch + dd, Hp, scratch + dd, Hp}, L, weights + to_answering);
        to_seen.product({total, 0, nullptr, 0, scratch + dseen, 0}, 1, weights + to_asking);
        for (int j = 0; j < L; j++) add(doutputs[j], scratch + dd + j * Hp, H, 1);
        add(doutputs[L - 1], scratch + dseen, H, 1);
        add(dreads, scratch + dseen + H, Q, 1);
    }

  private:
    // Leaves d, e, α and [h, r] in the scratch.
    void attend(const T* const* outputs, const T* reads, const T* weights, T* scratch) const {
        for (int j = 0; j < L; j++) {
            copy(scratch + d + j * Hp, outputs[j], H);
            zero_padding(scratch + d + j * Hp, H);
        }
        copy(scratch + seen, outputs[L - 1], H);
        copy(scratch + seen + H, reads, Q);
        from_seen.product({scratch + seen, 0, nullptr, 0, scratch + asked, 0}, 1, weights + asking);
        from_output.product({scratch + d, Hp, scratch + asked, 0, scratch + e, Kp}, L, weights + answering);
        for (int j = 0; j < L; j++) {
            T* e_j = scratch + e + j * Kp;
            map<T>(e_j, e_j, Kp, [](Vec<T> x) { return hyperbolic_tangent(x); });
            scratch[alpha + j] = dot(weights + scoring, e_j, Kp);
        }
        softmax(scratch + alpha, L);
    }

    // to += by · from, over n numbers.
    static void add(T* to, const T* from, int n, T by) {
        in_vectors<T>(n, [&](int i, auto part) { part.store(to + i, part.load(to + i) + by * part.load(from + i)); });
    }
};

}  // namespace mnemon
