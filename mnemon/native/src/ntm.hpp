// The NTM's memory (mnemon/memory/ntm.py): one sample, one step, forward and backward.
//
// Heads are numbered reads first. The interface vector has for every head [k, β, g, s, γ], and for write heads [e, a] after
// it; forward leaves it activated in the record. Each head: content → interpolation → shift → sharpening.
#pragma once

#include "config.hpp"
#include "contents.hpp"

namespace mnemon {

template <class T> struct NTMMemory {
    static constexpr int kStates = 4;  // memory, read_weights, write_weights, reads
    int N, Np, W, R, V, H, S, reach, address;
    bool read_first;
    Contents<T> contents;
    long xi, im, ik, similarity, content, gated, shifted, weights;  // places in a record
    long content_size, carry_size, scratch_size;

    NTMMemory(const Config& c, Places<T>& places)
        : N(c.slots), Np(padded<T>(c.slots)), W(c.word), R(c.reads), V(c.writes), H(R + V), S(2 * c.shift_reach + 1),
          reach(c.shift_reach), address(W + 3 + S), read_first(c.read_first), contents(N, W),
          xi(places.take(c.interface)), im(places.take(N)), ik(places.take(H)), similarity(places.take(H * Np)),
          content(places.take(H * Np)), gated(places.take(H * Np)), shifted(places.take(H * Np)), weights(places.take(H * Np)),
          content_size(contents.numbers()), carry_size(content_size + (long)H * Np),
          scratch_size((long)H * Np + Np + 2 * (Np + 2 * padded<T>(reach))) {}

    // Where head h's part of the interface vector starts, and how long it is.
    long head(int h) const { return h < R ? (long)h * address : (long)R * address + (long)(h - R) * head_size(h); }
    long head_size(int h) const { return h < R ? address : address + 2 * W; }

    // ---- from and to the tensors of the state ----

    void begin(T* record, T* memory, const T* const* state, long row) const {
        contents.in(state[0] + row * N * W, memory);
        rows_in(state[1] + row * R * N, R, N, record + weights);
        rows_in(state[2] + row * V * N, V, N, record + weights + (long)R * Np);
        contents.inverse_lengths(memory, record + im);
    }
    void end(const T* record, const T* memory, T* const* state, long row) const {
        contents.out(memory, state[0] + row * N * W);
        rows_out(record + weights, R, N, state[1] + row * R * N);
        rows_out(record + weights + (long)R * Np, V, N, state[2] + row * V * N);
    }
    void begin_backward(T* carry, const T* const* dstate, long row) const {
        if (dstate[0]) contents.in(dstate[0] + row * N * W, carry);
        if (dstate[1]) rows_in(dstate[1] + row * R * N, R, N, carry + content_size);
        if (dstate[2]) rows_in(dstate[2] + row * V * N, V, N, carry + content_size + (long)R * Np);
    }
    void end_backward(const T* carry, T* const* dstate, long row) const {
        contents.out(carry, dstate[0] + row * N * W);
        rows_out(carry + content_size, R, N, dstate[1] + row * R * N);
        rows_out(carry + content_size + (long)R * Np, V, N, dstate[2] + row * V * N);
    }

    // ---- forward ----

    void forward(T* record, const T* before, T* memory, T* reads, bool write, T* scratch) const {
        activate(record);
        const T* previous = before + weights;
        T* own = record + weights;
        if (read_first) {
            find(record, previous, memory, before + im, 0, R, scratch);
            contents.read(memory, R, own, reads);
        }
        if (write) {
            find(record, previous, memory, before + im, R, V, scratch);
            const T* vectors = record + xi + head(R) + address;
            contents.erase_and_add(memory, memory, V, own + (long)R * Np, vectors, vectors + W, head_size(R));
            contents.inverse_lengths(memory, record + im);
        } else {
            std::memcpy(own + (long)R * Np, previous + (long)R * Np, (long)V * Np * sizeof(T));
            std::memcpy(record + im, before + im, Np * sizeof(T));
        }
        if (!read_first) {
            find(record, previous, memory, record + im, 0, R, scratch);
            contents.read(memory, R, own, reads);
        }
    }

    // The memory after a step from the memory before it, by what the record keeps.
    void replay(const T* record, const T*, const T* memory_before, T* memory_after, bool write, bool) const {
        if (!write) {
            std::memcpy(memory_after, memory_before, content_size * sizeof(T));
            return;
        }
        const T* vectors = record + xi + head(R) + address;
        contents.erase_and_add(memory_before, memory_after, V, record + weights + (long)R * Np, vectors, vectors + W,
                               head_size(R));
    }

    // ---- backward ----

    // carry holds dM_t and dw_t and receives dM_{t−1} and dw_{t−1}; dxi receives the gradient of the raw vector.
    void backward(const T* record, const T* before, const T* memory_before, const T* memory_after, const T* dreads,
                  T* carry, T* dxi, bool write, T* scratch) const {
        T *dmemory = carry, *dweights = carry + content_size;
        const T* own = record + weights;
        if (!read_first) {
            contents.read_backward(memory_after, R, own, dreads, dweights, dmemory);
            find_backward(record, before, memory_after, record + im, 0, R, dweights, dmemory, dxi, scratch);
        }
        if (write) {
            const long vectors = head(R) + address;
            const T* e = record + xi + vectors;
            T* de = dxi + vectors;
            contents.erase_and_add_backward(memory_before, V, own + (long)R * Np, e, e + W, head_size(R), dmemory,
                                            dweights + (long)R * Np, de, de + W, head_size(R));
            for (int v = 0; v < V; v++)
                for (int w = 0; w < W; w++) {
                    const T erase = e[v * head_size(R) + w];
                    de[v * head_size(R) + w] *= erase * (1 - erase);
                }
            find_backward(record, before, memory_before, before + im, R, V, dweights, dmemory, dxi, scratch);
        } else {
            set_zero(dxi + head(R), (long)V * head_size(R));
        }
        if (read_first) {
            contents.read_backward(memory_before, R, own, dreads, dweights, dmemory);
            find_backward(record, before, memory_before, before + im, 0, R, dweights, dmemory, dxi, scratch);
        }
    }

  private:
    void activate(T* record) const {
        for (int h = 0; h < H; h++) {
            T* k = record + xi + head(h);
            T *beta = k + W, *gate = beta + 1, *shift = gate + 1, *gamma = shift + S;
            record[ik + h] = inverse_length(k, W);
            *beta = softplus(*beta);
            *gate = sigmoid_of(*gate);
            T most = shift[0], total = 0;
            for (int s = 1; s < S; s++) most = shift[s] > most ? shift[s] : most;
            for (int s = 0; s < S; s++) total += shift[s] = std::exp(shift[s] - most);
            for (int s = 0; s < S; s++) shift[s] /= total;
            *gamma = 1 + softplus(*gamma);
            if (h >= R) map(gamma + 1, gamma + 1, W, [](Vec<T> x) { return sigmoid<T>(x); });
        }
    }

    // Copy a weighting with `reach` slots of either end around it, so that the shift reads its neighbours in a line.
    T* around(const T* row, T* space) const {
        T* line = space + padded<T>(reach);
        std::memcpy(line, row, N * sizeof(T));
        for (int i = 1; i <= reach; i++) {
            line[-i] = row[((-i) % N + N) % N];
            line[N + i - 1] = row[(i - 1) % N];
        }
        for (int i = N + reach; i < Np + reach; i++) line[i] = 0;
        return line;
    }

    // w_h for `count` heads from `first` on: w^c, w^g = g w^c + (1−g) w_{t−1}, w̃(i) = Σ_o s(o) w^g(i−o), w ∝ w̃^γ.
    void find(T* record, const T* previous, const T* memory, const T* inverse, int first, int count,
              T* scratch) const {
        T strength[64];
        const long stride = head_size(first);
        const T* keys = record + xi + head(first);
        for (int h = 0; h < count; h++) strength[h] = keys[h * stride + W];
        contents.look_up(memory, inverse, count, keys, stride, record + ik + first, strength,
                         record + similarity + (long)first * Np, record + content + (long)first * Np);
        for (int h = first; h < first + count; h++) {
            const T* k = record + xi + head(h);
            const T gate = k[W + 1], gamma = k[W + 2 + S];
            const T* shift = k + W + 2;
            const long row = (long)h * Np;
            T *c = record + content + row, *g = record + gated + row, *s = record + shifted + row,
              *w = record + weights + row;
            for (int j = 0; j < Np; j += kLanes<T>)
                store<T>(g + j, gate * load<T>(c + j) + (1 - gate) * load<T>(previous + row + j));
            const T* line = around(g, scratch);
            for (int j = 0; j < Np; j += kLanes<T>) {
                Vec<T> total{};
                for (int o = -reach; o <= reach; o++) total += shift[o + reach] * load<T>(line + j - o);
                store<T>(s + j, total);
            }
            zero_padding(s, N);
            for (int j = 0; j < Np; j += kLanes<T>)
                store<T>(w + j, gamma * logarithm(maximum<T>(load<T>(s + j), spread<T>((T)1e-20))));
            softmax(w, N);
        }
    }

    // The chain backwards. With z = γ log w̃: dz = softmax_backward(dw); dγ = Σ dz log w̃; dw̃ = γ dz / w̃ (0 where w̃ was
    // clamped); ds(o) = Σ_i dw̃(i) w^g(i−o); dw^g(i) = Σ_o s(o) dw̃(i+o); dg = Σ dw^g (w^c − w_{t−1});
    // dw_{t−1} = (1−g) dw^g; dw^c = g dw^g, and on through the look-up.
    void find_backward(const T* record, const T* before, const T* memory, const T* inverse, int first, int count,
                       T* dweights, T* dmemory, T* dxi, T* scratch) const {
        T* dcontent = scratch;
        T* row_scratch = dcontent + (long)H * Np;
        T* space = row_scratch + Np;
        T* space_too = space + Np + 2 * padded<T>(reach);
        T strength[64], dstrength[64];
        for (int h = first; h < first + count; h++) {
            const T* k = record + xi + head(h);
            T* dk = dxi + head(h);
            const T gate = k[W + 1], gamma = k[W + 2 + S];
            const T* shift = k + W + 2;
            T* dshift = dk + W + 2;
            const long row = (long)h * Np;
            const T *c = record + content + row, *g = record + gated + row, *s = record + shifted + row,
                    *w = record + weights + row, *previous = before + weights + row;
            T *dw = dweights + row, *dc = dcontent + (h - first) * (long)Np;

            softmax_backward(w, dw, Np);
            Vec<T> dgamma{};
            for (int j = 0; j < Np; j += kLanes<T>) {
                Vec<T> at = load<T>(s + j), dz = load<T>(dw + j);
                Vec<T> clamped = maximum<T>(at, spread<T>((T)1e-20));
                dgamma += dz * logarithm(clamped);
                store<T>(dw + j, at > spread<T>((T)1e-20) ? gamma * dz / clamped : Vec<T>{});
            }
            dk[W + 2 + S] = sum<T>(dgamma) * (1 - std::exp(-(gamma - 1)));

            const T *line = around(g, space), *dline = around(dw, space_too);
            T inner = 0;
            for (int o = -reach; o <= reach; o++) {
                Vec<T> total{};
                for (int j = 0; j < Np; j += kLanes<T>) total += load<T>(dw + j) * load<T>(line + j - o);
                dshift[o + reach] = sum<T>(total);
                inner += dshift[o + reach] * shift[o + reach];
            }
            for (int o = 0; o < S; o++) dshift[o] = shift[o] * (dshift[o] - inner);

            for (int j = 0; j < Np; j += kLanes<T>) {
                Vec<T> total{};
                for (int o = -reach; o <= reach; o++) total += shift[o + reach] * load<T>(dline + j + o);
                store<T>(dc + j, total);
            }
            zero_padding(dc, N);
            Vec<T> dgate{};
            for (int j = 0; j < Np; j += kLanes<T>) {
                Vec<T> dgated = load<T>(dc + j);
                dgate += dgated * (load<T>(c + j) - load<T>(previous + j));
                store<T>(dw + j, (1 - gate) * dgated);
                store<T>(dc + j, gate * dgated);
            }
            dk[W + 1] = sum<T>(dgate) * gate * (1 - gate);
            strength[h - first] = k[W];
        }
        const long stride = head_size(first);
        contents.look_up_backward(memory, inverse, count, record + xi + head(first), stride, record + ik + first,
                                  strength, record + similarity + (long)first * Np,
                                  record + content + (long)first * Np, dcontent, dxi + head(first), stride, dstrength,
                                  dmemory, row_scratch);
        for (int h = 0; h < count; h++)
            dxi[head(first) + h * stride + W] = dstrength[h] * (1 - std::exp(-strength[h]));
    }
};

}  // namespace mnemon
