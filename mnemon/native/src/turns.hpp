// A DNC memory that several controllers use in turns (mnemon/models/encoder.py, early fusion): in a round each writes
// its own share of the slots, by way of a cache (mnemon/memory/write_cache.py), and reads all of them. To the network
// (network.hpp) a round is one step of one memory. Which of them take their turn is the step's `turns`, a bit for each,
// at least one; one that does not stays as it is, but for what it read, which is zero.
//
// A controller has to itself a part of the interface vector, [ξ of the memory, cache gate], and of the state its
// precedence, read weights and cache. The rest is everyone's: the state has the memory, usage, links and write weights
// first, then each one's own, and last what was read. In a record everyone's usage, write weights and inverse lengths
// are those after the round.
#pragma once

#include <vector>

#include "dnc.hpp"

namespace mnemon {

template <class T> struct TurnsMemory {
    int count, W, Wp, R, X, Xp, Np, kStates;  // R and X of one
    long read_at, dread_at;                   // numbers between what one reads and what the next reads
    long xi;
    std::vector<DNCMemory<T>> views;
    long record_size;
    std::vector<long> first, cache, gate, wanted;  // places of each
    long usage, write_weights, im;
    long content_size, own_carry, carry_size, scratch_size;

    TurnsMemory(const Config& c, Places<T>& places)
        : count(c.controllers), W(c.word), Wp(padded<T>(W)), R(c.reads / count), X(c.interface / count),
          Xp(padded<T>(X)), Np(padded<T>(c.slots)), kStates(4 + 3 * count + 1), read_at(c.hidden / count + R * W),
          dread_at(padded<T>(c.hidden / count) + padded<T>(R * W)), xi(places.take(count * Xp)) {
        for (int v = 0; v < count; v++) {
            Places<T> own;  // the same for all
            views.emplace_back(of_one(c, v), own);
            record_size = own.used;
            first.push_back(places.take(record_size));
            cache.push_back(places.take(W));
            gate.push_back(places.take(W));
            wanted.push_back(places.take(W));
        }
        usage = places.take(Np), write_weights = places.take(Np), im = places.take(views[0].inverses());
        content_size = views[0].content_size;
        own_carry = (long)(R + 1) * Np + Wp;
        carry_size = views[0].carry_size + count * own_carry;
        scratch_size = record_size + (count - 1) * content_size + views[0].scratch_size;
    }

    // ---- from and to the tensors of the state ----

    void begin(T* record, T* memory, const T* const* state, long row) const {
        for (int v = 0; v < count; v++) {
            const T* const* own = state + 4 + 3 * v;
            T* now = record + first[v];
            const T* const one[] = {state[0], state[1], state[2], own[0], own[1], state[3]};
            views[v].begin(now, memory, one, row);
            rows_in(own[2] + row * W, 1, W, record + cache[v]);
        }
        share(record + first[0], record);
    }
    void end(const T* record, const T* memory, T* const* state, long row) const {
        const DNCMemory<T>& dnc = views[0];
        dnc.contents.out(memory, state[0] + row * dnc.N * W);
        rows_out(record + usage, 1, dnc.N, state[1] + row * dnc.N);
        if (dnc.links) rows_out(memory + dnc.links_at, dnc.N, dnc.N, state[2] + row * dnc.N * dnc.N);
        rows_out(record + write_weights, 1, dnc.N, state[3] + row * dnc.N);
        for (int v = 0; v < count; v++) {
            T* const* own = state + 4 + 3 * v;
            const T* now = record + first[v];
            if (dnc.links) rows_out(now + dnc.precedence, 1, dnc.N, own[0] + row * dnc.N);
            rows_out(now + dnc.read_weights, R, dnc.N, own[1] + row * R * dnc.N);
            rows_out(record + cache[v], 1, W, own[2] + row * W);
        }
    }
    void begin_backward(T* carry, const T* const* dstate, long row) const {
        for (int v = 0; v < count; v++) {
            const T* const* own = dstate + 4 + 3 * v;
            const T* const one[] = {v ? nullptr : dstate[0], v ? nullptr : dstate[1], v ? nullptr : dstate[2],
                                    own[0],                  own[1],                  v ? nullptr : dstate[3]};
            views[v].begin_backward(carry, one, row);
            exchange(carry, v);
            if (own[2]) rows_in(own[2] + row * W, 1, W, dcache(carry, v));
        }
    }
    void end_backward(T* carry, T* const* dstate, long row) const {
        for (int v = 0; v < count; v++) {
            T* const* own = dstate + 4 + 3 * v;
            T* const one[] = {dstate[0], dstate[1], dstate[2], own[0], own[1], dstate[3]};
            exchange(carry, v);
            views[v].end_backward(carry, one, row);
            exchange(carry, v);
            rows_out(dcache(carry, v), 1, W, own[2] + row * W);
        }
    }

    // ---- a round ----

    void forward(T* record, const T* before, T* memory, T* read, int turns, T* scratch) const {
        T* then = scratch;
        const T* last = nullptr;  // whose turn was the last in this round
        for (int v = 0; v < count; v++) {
            T* now = record + first[v];
            if (!(turns >> v & 1)) {
                const DNCMemory<T>& dnc = views[v];
                if (dnc.links) copy(now + dnc.precedence, before + first[v] + dnc.precedence, Np);
                copy(now + dnc.read_weights, before + first[v] + dnc.read_weights, (long)R * Np);
                copy(record + cache[v], before + cache[v], Wp);
                set_zero(read + v * read_at, R * W);
                continue;
            }
            gather(before, last, v, then);
            copy(now + views[v].xi, record + xi + (long)v * Xp, views[v].X);
            zero_padding(now + views[v].xi, views[v].X);
            pass_through_cache(record, before, v);
            views[v].forward(now, then, memory, read + v * read_at, true, scratch + record_size);
            last = now;
        }
        share(last, record);
    }
    void replay(const T* record, const T* before, const T* memory_before, T* memory_after, int turns,
                bool last) const {
        for (int v = 0; v < count; v++) {
            if (!(turns >> v & 1)) continue;
            views[v].replay(record + first[v], before + first[v], memory_before, memory_after, true,
                            last && !(turns >> (v + 1)));
            memory_before = memory_after;
        }
    }
    void backward(const T* record, const T* before, const T* memory_before, const T* memory_after, const T* dread,
                  T* carry, T* dxi, int turns, T* scratch) const {
        T *then = scratch, *contents = then + record_size, *rest = contents + (count - 1) * content_size;
        const T *after[kMost], *mine[kMost], *last[kMost];  // the memory after and before a turn; whose was the last
        const T *content = memory_before, *latest = nullptr;
        for (int v = 0; v < count; v++) {
            mine[v] = content, last[v] = latest;
            if (!(turns >> v & 1)) continue;
            latest = record + first[v];
            if (turns >> (v + 1)) {
                T* next = contents + v * content_size;
                views[v].replay(latest, before + first[v], content, next, true, false);
                content = next;
            } else {
                content = memory_after;
            }
            after[v] = content;
        }
        for (int v = count - 1; v >= 0; v--) {
            T* dvector = dxi + (long)v * X;
            if (!(turns >> v & 1)) {
                set_zero(dvector, X);
                continue;
            }
            gather(before, last[v], v, then);
            exchange(carry, v);
            views[v].backward(record + first[v], then, mine[v], after[v], dread + v * dread_at, carry, dvector, true,
                              rest);
            exchange(carry, v);
            pass_through_cache_backward(record, before, v, dvector, dcache(carry, v));
        }
    }

  private:
    static constexpr int kMost = 5;  // as MOST_VIEWS in mnemon/native/turns.py

    static Config of_one(Config c, int v) {
        const int own = c.slots / c.controllers;
        c.interface = c.interface / c.controllers - c.word;
        c.reads /= c.controllers;
        c.own_first = v * own, c.own_end = (v + 1) * own;
        return c;
    }

    // The state that v finds: what the last turn left, and its own.
    void gather(const T* before, const T* last, int v, T* then) const {
        const DNCMemory<T>& dnc = views[v];
        const T* own = before + first[v];
        copy(then + dnc.usage, last ? last + dnc.usage : before + usage, Np);
        copy(then + dnc.write_weights, last ? last + dnc.write_weights : before + write_weights, Np);
        copy(then + dnc.im, last ? last + dnc.im : before + im, dnc.inverses());
        if (dnc.links) copy(then + dnc.precedence, own + dnc.precedence, Np);
        copy(then + dnc.read_weights, own + dnc.read_weights, (long)R * Np);
    }
    void share(const T* last, T* record) const {
        const DNCMemory<T>& dnc = views[0];
        copy(record + usage, last + dnc.usage, Np);
        copy(record + write_weights, last + dnc.write_weights, Np);
        copy(record + im, last + dnc.im, dnc.inverses());
    }

    // The gradients of a view's own state wait behind those of everyone's, but in its turn.
    T* waiting(T* carry, int v) const { return carry + views[0].carry_size + v * own_carry; }
    T* dcache(T* carry, int v) const { return waiting(carry, v) + (long)(R + 1) * Np; }
    void exchange(T* carry, int v) const {
        const auto d = views[v].parts(carry);
        T* own = waiting(carry, v);
        std::swap_ranges(d.precedence, d.precedence + Np, own);
        std::swap_ranges(d.read_weights, d.read_weights + (long)R * Np, own + Np);
    }

    // c = v + g (c_{t−1} − v), written in place of v, which is clipped as the memory would.
    void pass_through_cache(T* record, const T* before, int v) const {
        const DNCMemory<T>& dnc = views[v];
        T *vector = record + first[v] + dnc.xi + dnc.write_vector(), *now = record + cache[v], *g = record + gate[v];
        const T* then = before + cache[v];
        copy(record + wanted[v], vector, W);
        copy(g, record + xi + (long)v * Xp + dnc.X, W);
        map(g, g, W, [](Vec<T> x) { return sigmoid<T>(x); });
        for (int w = 0; w < W; w++) {
            const T value = dnc.clipped(vector[w]);
            vector[w] = now[w] = value + g[w] * (then[w] - value);
        }
    }
    // With d = dc: dv = (1 − g) d,  dg = d (c_{t−1} − v) through the slope of σ,  dc_{t−1} = g d.
    void pass_through_cache_backward(const T* record, const T* before, int v, T* dvector, T* dcache) const {
        const DNCMemory<T>& dnc = views[v];
        const T *g = record + gate[v], *then = before + cache[v], *raw = record + wanted[v];
        T *dwanted = dvector + dnc.write_vector(), *dgate = dvector + dnc.X;
        for (int w = 0; w < W; w++) {
            const T value = dnc.clipped(raw[w]), d = dwanted[w] + dcache[w];
            dwanted[w] = value == raw[w] ? (1 - g[w]) * d : 0;
            dgate[w] = d * (then[w] - value) * g[w] * (1 - g[w]);
            dcache[w] = g[w] * d;
        }
    }
};

}  // namespace mnemon
