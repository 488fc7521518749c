// Layer normalisation (Ba et al., 2016): y = gain x̂ + bias with x̂ = (x − μ) s, s = 1/√(σ² + ε), where μ and σ² are the mean
// and variance of x. Several parts of N numbers each, side by side, are normalised at once, each by itself.
#pragma once

#include <cmath>

#include "vector.hpp"

namespace mnemon {

// In place; keeps x̂ and s. The part kLifted, if any, is raised by 1.
template <class T, int kParts, int kLifted = -1>
void normalise_parts(T* x, int N, const T* gain, const T* bias, T* kept, T* s) {
    T mean[kParts], variance[kParts];
    Vec<T> total[kParts] = {}, squares[kParts] = {};
    in_vectors<T>(N, [&](int k, auto part) {
        for (int i = 0; i < kParts; i++) total[i] += part.load(x + i * N + k);
    });
    sums_of<T, kParts>(total, mean);
    for (int i = 0; i < kParts; i++) mean[i] /= N;
    in_vectors<T>(N, [&](int k, auto part) {
        for (int i = 0; i < kParts; i++) {
            const Vec<T> off = part.only(part.load(x + i * N + k) - mean[i]);
            squares[i] += off * off;
        }
    });
    sums_of<T, kParts>(squares, variance);
    for (int i = 0; i < kParts; i++) s[i] = 1 / std::sqrt(variance[i] / N + (T)1e-5);
    in_vectors<T>(N, [&](int k, auto part) {
        for (int i = 0; i < kParts; i++) {
            const int at = i * N + k;
            const Vec<T> normalised = (part.load(x + at) - mean[i]) * s[i];
            const Vec<T> y = part.load(gain + at) * normalised + part.load(bias + at);
            part.store(kept + at, normalised);
            part.store(x + at, i == kLifted ? y + 1 : y);
        }
    });
}

// In place: dx from dy. With N numbers, ∂μ/∂x_j = 1/N and ∂s/∂x_j = −s³ (x_j − μ)/N = −s² x̂_j/N, so that
//   ∂x̂_i/∂x_j = s (δ_ij − 1/N) − (x_i − μ) s² x̂_j/N = s (δ_ij − 1/N − x̂_i x̂_j/N),
// and with dx̂ = gain dy: dx = s (dx̂ − mean(dx̂) − x̂ mean(dx̂ x̂)). dgain += dy x̂, dbias += dy.
template <class T, int kParts>
void normalise_parts_backward(T* d, int N, const T* gain, const T* kept, const T* s, T* dgain, T* dbias) {
    T mean[kParts], along[kParts];
    Vec<T> total[kParts] = {}, inner[kParts] = {};
    in_vectors<T>(N, [&](int k, auto part) {
        for (int i = 0; i < kParts; i++) {
            const int at = i * N + k;
            const Vec<T> dy = part.load(d + at), normalised = part.load(kept + at);
            const Vec<T> dnormalised = dy * part.load(gain + at);
            part.store(dgain + at, part.load(dgain + at) + dy * normalised);
            part.store(dbias + at, part.load(dbias + at) + dy);
            part.store(d + at, dnormalised);
            total[i] += dnormalised;
            inner[i] += dnormalised * normalised;
        }
    });
    sums_of<T, kParts>(total, mean);
    sums_of<T, kParts>(inner, along);
    for (int i = 0; i < kParts; i++) mean[i] /= N, along[i] /= N;
    in_vectors<T>(N, [&](int k, auto part) {
        for (int i = 0; i < kParts; i++) {
            const int at = i * N + k;
            part.store(d + at, s[i] * (part.load(d + at) - mean[i] - part.load(kept + at) * along[i]));
        }
    });
}

}  // namespace mnemon
