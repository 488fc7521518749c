// Recalling the last outputs (CachedUniformWriting in mnemon/writing.py), one sample and one step at a time. What the
// controller goes on from in place of h_{t−1} is, with d_1 … d_L its last L outputs, d_L = h_{t−1},
//   e_j = tanh(W h_{t−1} + V r_{t−1} + U d_j),   s_j = v · e_j,   α = softmax(s),   a = Σ_j α_j d_j.
// The weights lie one after the other: [W, V] of K × (H + Q), U of K × H, v of K.
#pragma once

#include "addressing.hpp"
#include "config.hpp"

namespace mnemon {

template <class T> struct Recall {
    int H, Q, L, K;  // hidden, numbers read, cached outputs (0: nothing is recalled), attention
    long weights_size, scratch_size;

    explicit Recall(const Config& c)
        : H(c.hidden), Q(c.reads * c.word), L(c.cached), K(c.attention), weights_size((long)K * (2 * H + Q + 1)),
          scratch_size((long)L * (K + 2) + K) {}

    void forward(const T* const* outputs, const T* reads, const T* weights, T* a, T* scratch) const {
        attend(outputs, reads, weights, scratch);
        const T* alpha = scratch + L * K;
        set_zero(a, H);
        for (int j = 0; j < L; j++)
            for (int h = 0; h < H; h++) a[h] += alpha[j] * outputs[j][h];
    }

    // Takes the forward step again, then with dα_j = da · d_j and ds_j = α_j (dα_j − Σ_i α_i dα_i):
    //   dv = Σ_j ds_j e_j,   g_j = ds_j v ∘ (1 − e_j²),   dd_j = α_j da + Uᵀ g_j,   dU = Σ_j g_j d_jᵀ,
    // and with g = Σ_j g_j: d[W, V] = g [h, r]ᵀ, and [W, V]ᵀ g for h_{t−1}, which is d_L, and for r_{t−1}.
    // All of it is added to what is there.
    void backward(const T* const* outputs, const T* reads, const T* weights, const T* da, T* const* doutputs, T* dreads,
                  T* dweights, T* scratch) const {
        attend(outputs, reads, weights, scratch);
        const T *u = weights + (long)K * (H + Q), *v = u + (long)K * H;
        T *du = dweights + (long)K * (H + Q), *dv = du + (long)K * H;
        T *alpha = scratch + L * K, *dalpha = alpha + L, *total = dalpha + L;
        T inner = 0;
        for (int j = 0; j < L; j++) {
            dalpha[j] = 0;
            for (int h = 0; h < H; h++) dalpha[j] += da[h] * outputs[j][h];
            inner += alpha[j] * dalpha[j];
        }
        set_zero(total, K);
        for (int j = 0; j < L; j++) {
            const T ds = alpha[j] * (dalpha[j] - inner), *e = scratch + j * K, *d = outputs[j];
            T* dd = doutputs[j];
            for (int h = 0; h < H; h++) dd[h] += alpha[j] * da[h];
            for (int k = 0; k < K; k++) {
                const T g = ds * v[k] * (1 - e[k] * e[k]);
                dv[k] += ds * e[k];
                total[k] += g;
                for (int h = 0; h < H; h++) dd[h] += g * u[(long)k * H + h];
                for (int h = 0; h < H; h++) du[(long)k * H + h] += g * d[h];
            }
        }
        for (int k = 0; k < K; k++) {
            const T *row = weights + (long)k * (H + Q), *h_before = outputs[L - 1];
            T *drow = dweights + (long)k * (H + Q), *dh = doutputs[L - 1];
            for (int h = 0; h < H; h++) dh[h] += total[k] * row[h];
            for (int q = 0; q < Q; q++) dreads[q] += total[k] * row[H + q];
            for (int h = 0; h < H; h++) drow[h] += total[k] * h_before[h];
            for (int q = 0; q < Q; q++) drow[H + q] += total[k] * reads[q];
        }
    }

  private:
    // Leaves e_1 … e_L and α in the scratch.
    void attend(const T* const* outputs, const T* reads, const T* weights, T* scratch) const {
        const T *u = weights + (long)K * (H + Q), *v = u + (long)K * H;
        T* alpha = scratch + L * K;
        T most = 0, total = 0;
        for (int k = 0; k < K; k++) {
            const T* row = weights + (long)k * (H + Q);
            const T asked = inner(row, outputs[L - 1], H) + inner(row + H, reads, Q);
            for (int j = 0; j < L; j++) scratch[j * K + k] = std::tanh(asked + inner(u + (long)k * H, outputs[j], H));
        }
        for (int j = 0; j < L; j++) {
            alpha[j] = inner(v, scratch + j * K, K);
            most = j ? std::max(most, alpha[j]) : alpha[j];
        }
        for (int j = 0; j < L; j++) total += alpha[j] = std::exp(alpha[j] - most);
        for (int j = 0; j < L; j++) alpha[j] /= total;
    }

    static T inner(const T* a, const T* b, int n) {
        T part[kLanes<T>] = {}, total = 0;
        int i = 0;
        for (; i + kLanes<T> <= n; i += kLanes<T>)
            for (int lane = 0; lane < kLanes<T>; lane++) part[lane] += a[i + lane] * b[i + lane];
        for (; i < n; i++) total += a[i] * b[i];
        return total + sum<T>(load<T>(part));
    }
};

}  // namespace mnemon
