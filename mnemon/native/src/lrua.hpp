// The LRUA memory (mnemon/memory/lrua.py): one sample, one step, forward and backward.
//
// The interface vector has for every head [k, α, β], or [k, α] without strengths; forward leaves it activated in the
// record: σ(α), and softplus(β), which is the strength less 1.
//
//   w^w_h = g_h w^r_h,t−1 + (1 − g_h) w^{lu},    M_t = M_{t−1} ∘ kept + Σ_h w^w_h k_hᵀ,    w^r_h = look-up of k_h in M,
//   u_t = γ u_{t−1} + Σ_h (w^r_h + w^w_h)
//
// where w^{lu} marks the R least used slots of u_{t−1}, and kept is 0 at the least used one and 1 elsewhere.
#pragma once

#include <limits>

#include "config.hpp"
#include "contents.hpp"

namespace mnemon {

template <class T> struct LRUAMemory {
    static constexpr int kStates = 5;  // memory, usage, read_weights, write_weights, reads
    int N, Np, W, R, head;
    bool read_first, strengths;
    T decay;
    Contents<T> contents;  // word by word
    long xi, im, ik, strength, similarity, weights, written, usage, least, kept;  // places in a record
    long content_size, carry_size, scratch_size;

    LRUAMemory(const Config& c, Places<T>& places)
        : N(c.slots), Np(padded<T>(c.slots)), W(c.word), R(c.reads), head(W + 1 + (c.strengths ? 1 : 0)),
          read_first(c.read_first), strengths(c.strengths), decay((T)c.decay), contents(N, W, true),
          xi(places.take(c.interface)), im(places.take(N)), ik(places.take(R)), strength(places.take(R)),
          similarity(places.take(R * Np)), weights(places.take(R * Np)), written(places.take(R * Np)),
          usage(places.take(N)), least(places.take(N)), kept(places.take(N)), content_size(contents.numbers()), carry_size(content_size + Np + 2L * R * Np),
          scratch_size(Np + padded<T>(R) + padded<T>(R * W)) {}

    // ---- from and to the tensors of the state ----

    void begin(T* record, T* memory, const T* const* state, long row) const {
        contents.in(state[0] + row * N * W, memory);
        rows_in(state[1] + row * N, 1, N, record + usage);
        rows_in(state[2] + row * R * N, R, N, record + weights);
        rows_in(state[3] + row * R * N, R, N, record + written);
        contents.inverse_lengths(memory, record + im);
    }
    void end(const T* record, const T* memory, T* const* state, long row) const {
        contents.out(memory, state[0] + row * N * W);
        rows_out(record + usage, 1, N, state[1] + row * N);
        rows_out(record + weights, R, N, state[2] + row * R * N);
        rows_out(record + written, R, N, state[3] + row * R * N);
    }
    void begin_backward(T* carry, const T* const* dstate, long row) const {
        if (dstate[0]) contents.in(dstate[0] + row * N * W, carry);
        if (dstate[1]) rows_in(dstate[1] + row * N, 1, N, carry + content_size);
        if (dstate[2]) rows_in(dstate[2] + row * R * N, R, N, carry + content_size + Np);
        if (dstate[3]) rows_in(dstate[3] + row * R * N, R, N, carry + content_size + Np + (long)R * Np);
    }
    void end_backward(const T* carry, T* const* dstate, long row) const {
        contents.out(carry, dstate[0] + row * N * W);
        rows_out(carry + content_size, 1, N, dstate[1] + row * N);
        rows_out(carry + content_size + Np, R, N, dstate[2] + row * R * N);
        rows_out(carry + content_size + Np + (long)R * Np, R, N, dstate[3] + row * R * N);
    }

    // ---- forward ----

    void forward(T* record, const T* before, T* memory, T* reads, bool write, T* scratch) const {
        activate(record);
        if (read_first) find_and_read(record, memory, before + im, reads);
        if (write) {
            mark_least_used(before + usage, record + least, record + kept, scratch);
            gate(record, before);
            empty_and_add(record, memory, memory);
            contents.inverse_lengths(memory, record + im);
        } else {
            set_zero(record + written, (long)R * Np);
            std::memcpy(record + im, before + im, Np * sizeof(T));
        }
        if (!read_first) find_and_read(record, memory, record + im, reads);
        for (int j = 0; j < Np; j += kLanes<T>) {
            Vec<T> used = decay * load<T>(before + usage + j);
            for (int h = 0; h < R; h++)
                used += load<T>(record + weights + (long)h * Np + j) + load<T>(record + written + (long)h * Np + j);
            store<T>(record + usage + j, used);
        }
    }

    // The memory after a step from the memory before it, by what the record keeps.
    void replay(const T* record, const T*, const T* memory_before, T* memory_after, bool write, bool) const {
        if (write)
            empty_and_add(record, memory_before, memory_after);
        else
            std::memcpy(memory_after, memory_before, content_size * sizeof(T));
    }

    // ---- backward ----

    // carry holds dM_t, du_t, dw^r_t and dw^w_t and receives those of t−1; dxi receives the gradient of the raw vector.
    //
    // u_t feeds u_{t+1} and an order, which has no gradient: du_{t−1} = γ du_t, and du_t goes to every head's w^r_t and
    // w^w_t. Nothing but u_t and M_t sees w^w_t, so dw^w_{t−1} = 0, and dw^r_{t−1} comes from w^w_t alone.
    void backward(const T* record, const T* before, const T* memory_before, const T* memory_after, const T* dreads,
                  T* carry, T* dxi, bool write, T* scratch) const {
        T *dmemory = carry, *dusage = dmemory + content_size, *dweights = dusage + Np,
          *dwritten = dweights + (long)R * Np;
        T* dkeys = scratch + Np + padded<T>(R);  // from what was added
        for (int j = 0; j < Np; j += kLanes<T>) {
            Vec<T> du = load<T>(dusage + j);
            for (long at = j; at < 2L * R * Np; at += Np) store<T>(dweights + at, load<T>(dweights + at) + du);
            store<T>(dusage + j, decay * du);
        }
        if (!read_first)
            find_and_read_backward(record, memory_after, record + im, dreads, dweights, dmemory, dxi, scratch);
        if (write) empty_and_add_backward(record, dmemory, dwritten, dkeys);
        if (read_first)
            find_and_read_backward(record, memory_before, before + im, dreads, dweights, dmemory, dxi, scratch);
        if (write) {
            gate_backward(record, before, dwritten, dweights, dxi);
            for (int h = 0; h < R; h++)
                for (int w = 0; w < W; w++) dxi[h * head + w] += dkeys[h * W + w];
        } else {
            for (int h = 0; h < R; h++) dxi[h * head + W] = 0;
            set_zero(dweights, (long)R * Np);
        }
        set_zero(dwritten, (long)R * Np);
    }

  private:
    void activate(T* record) const {
        for (int h = 0; h < R; h++) {
            T* k = record + xi + h * head;
            record[ik + h] = inverse_length(k, W);
            k[W] = sigmoid_of(k[W]);
            if (strengths) k[W + 1] = softplus(k[W + 1]);
            record[strength + h] = strengths ? 1 + k[W + 1] : 1;
        }
    }

    // w^{lu} and kept.
    void mark_least_used(const T* used, T* marks, T* others, T* settled) const {
        settle_ties(used, N, settled);
        for (int n = N; n < Np; n++) settled[n] = std::numeric_limits<T>::infinity();
        set_zero(marks, Np);
        for (int j = 0; j < Np; j += kLanes<T>) store<T>(others + j, spread<T>(1));
        for (int h = 0; h < R; h++) {
            const int slot = first_smallest(settled);
            settled[slot] = std::numeric_limits<T>::infinity();
            marks[slot] = 1;
            if (h == 0) others[slot] = 0;
        }
    }

    // The first of the smallest numbers of a padded row: lane by lane, then among the lanes.
    int first_smallest(const T* row) const {
        using Integers = typename Lanes<T>::Integers;
        Vec<T> smallest = load<T>(row);
        Integers start{};
        for (int j = kLanes<T>; j < Np; j += kLanes<T>) {
            Vec<T> x = load<T>(row + j);
            Integers less = x < smallest;
            smallest = less ? x : smallest;
            start = less ? Integers{} + j : start;
        }
        int lane = 0;
        for (int i = 1; i < kLanes<T>; i++)
            if (smallest[i] < smallest[lane] ||
                (smallest[i] == smallest[lane] && start[i] + i < start[lane] + lane))
                lane = i;
        return (int)start[lane] + lane;
    }

    // w^w = g w^r_{t−1} + (1 − g) w^{lu}
    void gate(T* record, const T* before) const {
        for (int h = 0; h < R; h++) {
            const T g = record[xi + h * head + W];
            const T* previous = before + weights + (long)h * Np;
            T* w = record + written + (long)h * Np;
            for (int j = 0; j < Np; j += kLanes<T>)
                store<T>(w + j, g * load<T>(previous + j) + (1 - g) * load<T>(record + least + j));
        }
    }

    // dg = Σ_n dw^w (w^r_{t−1} − w^{lu}), through the slope of σ;  dw^r_{t−1} = g dw^w
    void gate_backward(const T* record, const T* before, const T* dwritten, T* dweights, T* dxi) const {
        for (int h = 0; h < R; h++) {
            const T g = record[xi + h * head + W];
            const T *previous = before + weights + (long)h * Np, *dw = dwritten + (long)h * Np;
            T* dprevious = dweights + (long)h * Np;
            Vec<T> dgate{};
            for (int j = 0; j < Np; j += kLanes<T>) {
                Vec<T> d = load<T>(dw + j);
                dgate += d * (load<T>(previous + j) - load<T>(record + least + j));
                store<T>(dprevious + j, g * d);
            }
            dxi[h * head + W] = sum<T>(dgate) * g * (1 - g);
        }
    }

    // M_t = M_{t−1} ∘ kept + Σ_h w^w_h k_hᵀ       (in place when before == after)
    void empty_and_add(const T* record, const T* before, T* after) const {
        const T *added = record + written, *keys = record + xi, *stays = record + kept;
        const int word = W, slots = Np, stride = head;  // a store might change a member, for all the compiler knows
        in_blocks(R, [&](int first, auto count) {
            constexpr int kHeads = decltype(count)::value;
            const T *from = first ? after : before, *key = keys + first * stride;
            for (int j = 0; j < slots; j += kLanes<T>) {
                Vec<T> weight[kHeads], stay = first ? spread<T>(1) : load<T>(stays + j);
                for (int h = 0; h < kHeads; h++) weight[h] = load<T>(added + (long)(first + h) * slots + j);
                for (int w = 0; w < word; w++) {
                    Vec<T> m = load<T>(from + (long)w * slots + j) * stay;
                    for (int h = 0; h < kHeads; h++) m += weight[h] * key[h * stride + w];
                    store<T>(after + (long)w * slots + j, m);
                }
            }
        });
    }

    // With D = dM_t: dk_h = Σ_n D w^w_h, dw^w_h[n] += Σ_w D k_h, dM_{t−1} = D ∘ kept. dmemory holds D.
    void empty_and_add_backward(const T* record, T* dmemory, T* dwritten, T* dkeys) const {
        const T *keys = record + xi, *stays = record + kept;
        const int word = W, slots = Np, stride = head;
        contents.read(dmemory, R, record + written, dkeys);
        in_blocks(R, [&](int first, auto count) {
            constexpr int kHeads = decltype(count)::value;
            const T* key = keys + first * stride;
            for (int j = 0; j < slots; j += kLanes<T>) {
                Vec<T> dweight[kHeads];
                for (int h = 0; h < kHeads; h++) dweight[h] = load<T>(dwritten + (long)(first + h) * slots + j);
                for (int w = 0; w < word; w++) {
                    Vec<T> d = load<T>(dmemory + (long)w * slots + j);
                    for (int h = 0; h < kHeads; h++) dweight[h] += d * key[h * stride + w];
                }
                for (int h = 0; h < kHeads; h++) store<T>(dwritten + (long)(first + h) * slots + j, dweight[h]);
            }
        });
        for (int n = 0; n < N; n++)
            if (stays[n] == 0)
                for (int w = 0; w < word; w++) dmemory[(long)w * slots + n] = 0;
    }

    void find_and_read(T* record, const T* memory, const T* inverse, T* reads) const {
        contents.look_up(memory, inverse, R, record + xi, head, record + ik, record + strength,
                         record + similarity, record + weights);
        contents.read(memory, R, record + weights, reads);
    }

    // strength = 1 + softplus(β): dβ = dstrength σ(β) = dstrength (1 − e^{−softplus(β)}). Sets the keys and β of dxi.
    void find_and_read_backward(const T* record, const T* memory, const T* inverse, const T* dreads, T* dweights,
                                T* dmemory, T* dxi, T* scratch) const {
        T* dstrength = scratch + Np;
        contents.read_backward(memory, R, record + weights, dreads, dweights, dmemory);
        contents.look_up_backward(memory, inverse, R, record + xi, head, record + ik, record + strength,
                                  record + similarity, record + weights, dweights, dxi, head, dstrength, dmemory,
                                  scratch);
        if (!strengths) return;
        for (int h = 0; h < R; h++)
            dxi[h * head + W + 1] = dstrength[h] * (1 - std::exp(-record[xi + h * head + W + 1]));
    }
};

}  // namespace mnemon
