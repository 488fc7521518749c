// A whole sequence, forward and backward: controller × interface × memory, composed as the Python parts are.
//
// Each thread takes a few rows of the batch through all steps, so that their memories stay in its cache and the weights
// are read once for all of them. What backward needs of a step is a *record*: the controller has one for every step, the
// memory one for every step that accesses it. The memory's content (and links) is large, so it is kept only every few
// accesses and played back from there. All records together are more than a cache holds, so while a row is taken, that of
// the next one is fetched.
//
// What was read stays as it is until the memory is next accessed, and so does what it gives the controller: it is computed
// when it changes. Backward, the gradients that came to it meanwhile are summed, and then go on together.
//
// Controllers that take turns at a memory (turns.hpp) go side by side: V of them, each with a share of the inputs, hidden
// units, preactivations, interface vector and reads, and weights of its own. Features are [h, r] of the first, then of
// the next, and so are all numbers that come from them. I, H, P, Z, Q and F are those of one; V is mostly 1.
#pragma once

#include <algorithm>

#include "config.hpp"
#include "controllers.hpp"
#include "interfaces.hpp"
#include "parallel.hpp"
#include "recall.hpp"

namespace mnemon {

// Rows go together, so that each weight is read once for all of them: as many as have contents that stay near, but not
// fewer than the product of matrices takes at once. Several threads have two shares each, for rows differ in length.
constexpr int kMostRows = 16, kLeastRows = 4;
constexpr long kNearBytes = 1 << 20;

constexpr int kMostRecalled = 1024;  // outputs; as MOST_CACHED in mnemon/native/engine.py

template <class T, template <class> class ControllerOf, template <class> class MemoryOf> class Network {
  public:
    explicit Network(const Config& config)
        : c(config), V(controllers(c)), controller(one_of(c), controller_places), memory(config, memory_places),
          interface(config, memory_places), recall(config), I(c.input / V), H(c.hidden / V), P(c.preactivations / V),
          X(c.interface), Z(interface.raw_size / V), Q(c.reads * c.word / V), F(H + Q), Zp(padded<T>(Z)),
          Hp(padded<T>(H)), Pp(padded<T>(P)), Fp(Hp + padded<T>(Q)), wrote(memory_places.take(1)),
          one_record(controller_places.used), controller_record(V * one_record), memory_record(memory_places.used),
          rows_together(rows_to_go_together()) {}

    // Numbers in a record of the controller, in a record of the memory, and in the memory's content.
    void sizes(long* to) const { to[0] = controller_record, to[1] = memory_record, to[2] = memory.content_size; }

    void forward(const Forward<T>& call) const {
        static thread_local Workspace shared;
        const Panels<T> inputs(I, P), reads(Q, P), hidden(H, P), interface(H, Z);
        T* room = shared.get<T>(V * (inputs.size() + reads.size() + hidden.size() + interface.size() + Pp + Zp) +
                                recall.packed_size);
        auto take = [&](long numbers) { return room += V * numbers, room - V * numbers; };
        T *from_inputs = take(inputs.size()), *from_reads = take(reads.size()), *from_hidden = take(hidden.size());
        T *to_interface = take(interface.size()), *bias = take(Pp), *interface_bias = take(Zp);
        for (int v = 0; v < V; v++) {
            const Matrices own = of_controller(call, v);
            inputs.pack(from_inputs + v * inputs.size(), own.from_inputs, 1, I + Q);
            reads.pack(from_reads + v * reads.size(), own.from_inputs + I, 1, I + Q);
            hidden.pack(from_hidden + v * hidden.size(), own.from_hidden, 1, H);
            interface.pack(to_interface + v * interface.size(), own.interface, 1, H);
            copy_or_zero(call.bias ? call.bias + v * P : nullptr, P, bias + v * Pp);
            copy_or_zero(call.interface_bias ? call.interface_bias + v * Z : nullptr, Z, interface_bias + v * Zp);
        }
        if (recall.L) recall.pack(call.attention, room);
        const Weights weights{from_inputs, from_reads, from_hidden, bias, to_interface, interface_bias, room};
        in_parallel(tiles(), c.threads, [&](int tile) { forward_tile(call, tile, weights); });
    }

    void backward(const Forward<T>& call, const Backward<T>& gradients) const {
        static thread_local Workspace shared;
        const Panels<T> hidden(P, H), reads(P, Q), interface(Z, H);
        T* to_hidden = shared.get<T>(V * (hidden.size() + reads.size() + interface.size()) + recall.packed_size);
        T *to_reads = to_hidden + V * hidden.size(), *from_interface = to_reads + V * reads.size();
        T* recalling = from_interface + V * interface.size();
        for (int v = 0; v < V; v++) {
            const Matrices own = of_controller(call, v);
            hidden.pack(to_hidden + v * hidden.size(), own.from_hidden, H, 1);
            reads.pack(to_reads + v * reads.size(), own.from_inputs + I, I + Q, 1);
            interface.pack(from_interface + v * interface.size(), own.interface, H, 1);
        }
        if (recall.L) recall.pack(call.attention, recalling);
        const Transposed weights{to_hidden, to_reads, from_interface, recalling};
        in_parallel(tiles(), c.threads, [&](int tile) { backward_tile(call, gradients, tile, weights); });
    }

  private:
    Config c;
    int V;
    Places<T> controller_places, memory_places;
    ControllerOf<T> controller;
    MemoryOf<T> memory;
    Interface<T> interface;
    Recall<T> recall;
    int I, H, P, X, Z, Q, F, Zp, Hp, Pp, Fp;
    long wrote, one_record, controller_record, memory_record;
    int rows_together;

    // A call's weights, in panels.
    struct Weights {
        const T *from_inputs, *from_reads, *from_hidden, *bias, *interface, *interface_bias, *recall;
    };
    struct Transposed {
        const T *to_hidden, *to_reads, *interface, *recall;
    };
    // A controller's, as they come: P × (I + Q) from [x, r], P × H or null from h, and Z × H to the interface.
    struct Matrices {
        const T *from_inputs, *from_hidden, *interface;
    };
    Matrices of_controller(const Forward<T>& call, long v) const {
        return {call.from_inputs + v * P * (I + Q), call.from_hidden ? call.from_hidden + v * P * H : nullptr,
                call.interface + v * Z * H};
    }
    static void copy_or_zero(const T* from, int n, T* to) {
        if (from) copy(to, from, n);
        else set_zero(to, n);
        zero_padding(to, n);
    }

    static Config one_of(Config c) {
        c.preactivations /= controllers(c);
        c.hidden /= controllers(c);
        return c;
    }
    int rows_to_go_together() const {
        const long shares = c.threads > 1 ? 2L * c.threads : 1, share = (c.batch + shares - 1) / shares;
        const long near = kNearBytes / std::max(1L, (long)sizeof(T) * memory.content_size);
        return (int)std::max(1L, std::min({share, (long)kMostRows, std::max((long)kLeastRows, near)}));
    }
    long extra_size() const { return controller.extra_size + interface.norm_size; }
    int tiles() const { return (c.batch + rows_together - 1) / rows_together; }
    int length(const Forward<T>& call, long row) const { return call.lengths ? (int)call.lengths[row] : c.steps; }
    // Rows of a tile up to the last that has not ended, at a step before the end of the longest.
    int going_on(const Forward<T>& call, int step, int first, int rows) const {
        while (step >= length(call, first + rows - 1)) rows--;
        return rows;
    }
    Access access(const Forward<T>& call, int step, long row) const {
        return call.schedule ? (Access)(call.schedule[(long)step * c.batch + row] & (kRecall - 1)) : kWrite;
    }
    // What a memory is told of an access: 0 where it does not write, else whose turns they are.
    int turns(const Forward<T>& call, int step, long row) const {
        if (access(call, step, row) != kWrite) return 0;
        return call.schedule ? std::max(1, call.schedule[(long)step * c.batch + row] >> kTurns) : 1;
    }
    // Whether a row goes through a step with what it has read before.
    bool holds(const Forward<T>& call, int step, long row) const {
        return step >= 0 && step < length(call, row) && access(call, step, row) == kHold;
    }
    bool recalls(const Forward<T>& call, int step, long row) const {
        return recall.L && call.schedule[(long)step * c.batch + row] & kRecall && step < length(call, row);
    }

    // Records are numbered from 0, the state before the first step; when none is kept, two take turns.
    T* controller_at(const Forward<T>& call, int number, long row) const {
        return call.records + ((long)(c.keep_records ? number : number & 1) * c.batch + row) * controller_record;
    }
    T* memory_at(const Forward<T>& call, int number, long row) const {
        return call.memory_records + ((long)(c.keep_records ? number : number & 1) * c.batch + row) * memory_record;
    }
    T* checkpoint_at(const Forward<T>& call, int number, long row) const {
        return call.checkpoints + ((long)(number / c.checkpoint_every) * c.batch + row) * memory.content_size;
    }
    T* features_at(const Forward<T>& call, int step, long row) const {
        return call.features + ((long)step * c.batch + row) * V * F;
    }

    // The controller's output after a step; before the first, what it started from and what was cached.
    const T* output_at(const Forward<T>& call, int step, long row) const {
        if (step >= 0) return features_at(call, step, row);
        if (step == -1) return call.state[0] + row * V * H;
        return call.cache + (row * recall.L + recall.L + 1 + step) * H;
    }
    T* recalled_at(const Forward<T>& call, int step, long row) const {
        return call.recalled + ((long)step * c.batch + row) * H;
    }
    const T* noise_at(const Forward<T>& call, int step, long row) const {
        return call.noise ? call.noise + ((long)step * c.batch + row) * interface.S * interface.P : nullptr;
    }

    void forward_tile(const Forward<T>& call, int tile, const Weights& weights) const {
        static thread_local Workspace own;
        const int first = tile * rows_together, rows = std::min(rows_together, c.batch - first);
        T* contents = own.get<T>(rows * (memory.content_size + V * (2 * F + Zp + Pp)) +
                                 std::max(memory.scratch_size, recall.scratch_size));
        T* start = contents + rows * memory.content_size;  // [h, r] before the first step
        T* recalling = start + (long)rows * V * F;         // [h, r] before a step that recalls
        T* vectors = recalling + (long)rows * V * F;
        T* from_reads = vectors + (long)rows * V * Zp;     // what the reads and the bias give the preactivations
        T* scratch = from_reads + (long)rows * V * Pp;
        const T* const* memory_state = call.state + controller.kStates;
        int longest = 0, accesses[kMostRows] = {};
        for (int i = 0; i < rows; i++) {
            const long row = first + i;
            T* features = start + (long)i * V * F;
            memory.begin(memory_at(call, 0, row), contents + i * memory.content_size, memory_state, row);
            for (int v = 0; v < V; v++) {
                controller.begin(controller_at(call, 0, row) + v * one_record, call.state, row * V + v);
                copy(features + v * F, call.state[0] + (row * V + v) * H, H);
                copy(features + v * F + H, memory_state[memory.kStates - 1] + (row * V + v) * Q, Q);
            }
            longest = std::max(longest, length(call, row));
            if (length(call, row) == 0) finish(call, row, 0, features, contents + i * memory.content_size);
        }
        bool accessed = true;
        for (int t = 0; t < longest; t++) {
            const T* before = t ? features_at(call, t - 1, first) : start;  // [h, r], rows V F apart
            before = with_recalled(call, t, first, rows, weights.recall, before, recalling, scratch);
            T* after = features_at(call, t, first);
            T* records = controller_at(call, t + 1, first);
            const T* records_before = controller_at(call, t, first);
            const T* inputs = call.inputs + ((long)t * c.batch + first) * V * I;
            const int alive = going_on(call, t, first, rows);
            for (int v = 0; v < V; v++) {
                T *pre = records + v * one_record + controller.pre, *held = from_reads + v * Pp;
                const Panels<T> of_inputs(I, P), of_reads(Q, P), of_hidden(H, P);
                if (accessed)
                    of_reads.product({before + v * F + H, V * F, weights.bias + v * Pp, 0, held, V * Pp}, alive,
                                     weights.from_reads + v * of_reads.size());
                of_inputs.product({inputs + v * I, V * I, held, V * Pp, pre, controller_record}, alive,
                                  weights.from_inputs + v * of_inputs.size());
                of_hidden.product({before + v * F, V * F, pre, controller_record, pre, controller_record}, alive,
                                  weights.from_hidden + v * of_hidden.size());
            }
            accessed = false;
            for (int i = 0; i < rows; i++) {
                if (t >= length(call, first + i)) continue;
                if (i + 1 < rows) fetch(records + (i + 1) * controller_record, controller_record);
                for (int v = 0; v < V; v++) {
                    const long record = i * controller_record + v * one_record, features = ((long)i * V + v) * F;
                    controller.forward(records + record, records_before + record, before + features, after + features,
                                       call.extra);
                }
                accessed |= access(call, t, first + i) != kHold;
            }
            for (int v = 0; accessed && v < V; v++) {
                const Panels<T> of_hidden(H, Z);
                of_hidden.product({after + v * F, V * F, weights.interface_bias + v * Zp, 0, vectors + v * Zp, V * Zp},
                                  alive, weights.interface + v * of_hidden.size());
            }
            for (int i = 0; i < rows; i++) {
                const long row = first + i;
                if (t >= length(call, row)) continue;
                if (i + 1 < rows) fetch(memory_at(call, accesses[i + 1] + 1, row + 1), memory_record);
                T *content = contents + i * memory.content_size, *features = after + (long)i * V * F;
                if (access(call, t, row) == kHold) {
                    copy(features + H, before + (long)i * F + H, Q);
                } else {
                    T *now = memory_at(call, accesses[i] + 1, row), *then = memory_at(call, accesses[i], row);
                    if (c.keep_records && accesses[i] % c.checkpoint_every == 0)
                        copy(checkpoint_at(call, accesses[i], row), content, memory.content_size);
                    interface.forward(now, vectors + (long)i * V * Zp, now + memory.xi, call.keys, call.ends,
                                      noise_at(call, t, row), call.extra + controller.extra_size);
                    const int writes = turns(call, t, row);
                    now[wrote] = (T)writes;
                    memory.forward(now, then, content, features + H, writes, scratch);
                    accesses[i]++;
                }
                if (t + 1 == length(call, row)) finish(call, row, accesses[i], features, content);
            }
        }
    }

    // [h, r] of all rows before a step, with h replaced in the rows that recall.
    const T* with_recalled(const Forward<T>& call, int t, int first, int rows, const T* weights, const T* before,
                           T* recalling, T* scratch) const {
        bool any = false;
        for (int i = 0; i < rows; i++) {
            if (!recalls(call, t, first + i)) continue;
            if (!any) copy(recalling, before, (long)rows * F);
            any = true;
            T* features = recalling + (long)i * F;
            const T* outputs[kMostRecalled];
            for (int j = 0; j < recall.L; j++) outputs[j] = output_at(call, t - recall.L + j, first + i);
            recall.forward(outputs, features + H, weights, features, scratch);
            if (c.keep_records) copy(recalled_at(call, t, first + i), features, H);
        }
        return any ? recalling : before;
    }

    // A row's final state; what lies past its end is zero.
    void finish(const Forward<T>& call, long row, int accesses, const T* features, const T* content) const {
        const int end = length(call, row);
        T* const* memory_final = call.final_state + controller.kStates;
        for (int v = 0; v < V; v++) {
            copy(call.final_state[0] + (row * V + v) * H, features + v * F, H);
            controller.end(controller_at(call, end, row) + v * one_record, call.final_state, row * V + v);
            copy(memory_final[memory.kStates - 1] + (row * V + v) * Q, features + v * F + H, Q);
        }
        memory.end(memory_at(call, accesses, row), content, memory_final, row);
        for (int t = end; t < c.steps; t++) set_zero(features_at(call, t, row), (long)V * F);
    }

    void backward_tile(const Forward<T>& call, const Backward<T>& gradients, int tile, const Transposed& weights) const {
        static thread_local Workspace own;
        const int first = tile * rows_together, rows = std::min(rows_together, c.batch - first);
        const int every = c.checkpoint_every;
        const long content = memory.content_size, carry_size = memory.carry_size + V * controller.carry_size;
        const long keys_size = (long)interface.S * interface.P * interface.K;
        const long past = (long)(recall.L ? recall.L + 1 : 0) * H;
        const long per_row = carry_size + V * (2 * Fp + Hp + 2 * P) + past + every * content;
        T* carries = own.get<T>(rows * per_row + std::max(memory.scratch_size, recall.scratch_size + H) +
                                padded<T>(X) + interface.P);
        T* dfeatures = carries + rows * carry_size;  // d[h, r] that came from the step after; r is padded for itself
        T* dnow = dfeatures + (long)rows * V * Fp;   // with what came from the output
        T* dhidden = dnow + (long)rows * V * Fp;
        T* dheld = dhidden + (long)rows * V * Hp;    // of preactivations: summed for what was read, and that which goes on
        T* dpast = dheld + (long)rows * V * 2 * P;   // of outputs that were recalled, by step modulo L; of h_0 the last
        T* dxi = dpast + rows * past;                // of stored programs
        T* contents = dxi + padded<T>(X) + interface.P;  // after each of a few accesses
        T* scratch = contents + rows * every * content;
        set_zero(carries, rows * (carry_size + V * (2 * Fp + Hp + 2 * P) + past));
        const T* const* dmemory_final = gradients.dfinal_state + controller.kStates;

        int longest = 0, accesses[kMostRows] = {}, played_back[kMostRows];
        bool held[kMostRows] = {};
        for (int i = 0; i < rows; i++) {
            const long row = first + i;
            T* carry = carries + i * carry_size;
            memory.begin_backward(carry, dmemory_final, row);
            for (int v = 0; v < V; v++)
                controller.begin_backward(carry + memory.carry_size + v * controller.carry_size,
                                          gradients.dfinal_state, row * V + v);
            longest = std::max(longest, length(call, row));
            for (int t = 0; t < length(call, row); t++) accesses[i] += access(call, t, row) != kHold;
            played_back[i] = -1;
            if (extra_size()) set_zero(gradients.dextra + row * extra_size(), extra_size());
            set_zero(gradients.dkeys + row * keys_size, keys_size);
            set_zero(gradients.dattention + row * recall.weights_size, recall.weights_size);
            set_zero(gradients.dcache + row * recall.L * H, (long)recall.L * H);
        }
        for (int t = longest; t < c.steps; t++) {
            set_zero(gradients.dpreactivations + ((long)t * c.batch + first) * V * P, (long)rows * V * P);
            set_zero(gradients.dinterface + ((long)t * c.batch + first) * V * Z, (long)rows * V * Z);
        }
        for (int t = longest - 1; t >= 0; t--) {
            T* dvectors = gradients.dinterface + ((long)t * c.batch + first) * V * Z;
            T* dpre = gradients.dpreactivations + ((long)t * c.batch + first) * V * P;
            const int alive = going_on(call, t, first, rows);
            bool accessed = false;
            for (int i = 0; i < rows; i++) {
                const long row = first + i;
                T *d = dnow + (long)i * V * Fp, *dh = dhidden + (long)i * V * Hp, *dvector = dvectors + (long)i * V * Z;
                if (t >= length(call, row)) {
                    set_zero(d, (long)V * Fp), set_zero(dh, (long)V * Hp), set_zero(dvector, (long)V * Z);
                    continue;
                }
                const T* from_output = gradients.dfeatures + ((long)t * c.batch + row) * V * F;
                T* from_after = dfeatures + (long)i * V * Fp;
                if (t == length(call, row) - 1) from_final_state(gradients, row, from_after);
                for (int v = 0; v < V; v++) {
                    const T *out = from_output + v * F, *after = from_after + v * Fp;
                    for (int k = 0; k < H; k++) dh[v * Hp + k] = out[k] + after[k];
                    for (int k = 0; k < Q; k++) d[v * Fp + Hp + k] = out[H + k] + after[Hp + k];
                    set_zero(d + v * Fp, H);
                }
                if (recall.L) {
                    T* recalled = dpast + i * past + (long)(t % recall.L) * H;
                    for (int k = 0; k < H; k++) dh[k] += recalled[k];
                    set_zero(recalled, H);
                }
                if (access(call, t, row) == kHold) {  // what was read stays, and so does its gradient
                    set_zero(dvector, (long)V * Z);
                    continue;
                }
                const int number = --accesses[i];
                if (i + 1 < rows) {
                    fetch(memory_at(call, accesses[i + 1], row + 1), memory_record);
                    fetch(from_output + V * F, V * F);
                    fetch(dvector + V * Z, V * Z);
                }
                T* chunk = contents + i * every * content;
                if (number / every != played_back[i]) {
                    played_back[i] = number / every;
                    play_back(call, row, played_back[i] * every, number, chunk);
                }
                const T* content_after = chunk + number % every * content;
                const T* content_before = number % every ? content_after - content : checkpoint_at(call, number, row);
                const T* now = memory_at(call, number + 1, row);
                T* to_vector = interface.P ? dxi : dvector;
                memory.backward(now, memory_at(call, number, row), content_before, content_after, d + Hp,
                                carries + i * carry_size, to_vector, turns(call, t, row), scratch);
                interface.normalise_backward(now, to_vector, call.extra + controller.extra_size,
                                             gradients.dextra + row * extra_size() + controller.extra_size);
                if (interface.P)
                    interface.backward(now, dxi, call.keys, call.ends, gradients.dkeys + row * keys_size, dvector,
                                       dxi + padded<T>(X));
                for (int v = 0; v < V; v++) set_zero(d + v * Fp + Hp, Q);
                accessed = true;
            }
            for (int v = 0; accessed && v < V; v++) {  // dh += Wᵀ dξ
                const Panels<T> from_vectors(Z, H);
                T* dh = dhidden + (long)v * Hp;
                from_vectors.product({dvectors + v * Z, V * Z, dh, V * Hp, dh, V * Hp}, alive,
                                     weights.interface + v * from_vectors.size());
            }
            for (int i = 0; i < rows; i++) {
                const long row = first + i;
                T* da = dpre + (long)i * V * P;
                if (t >= length(call, row)) {
                    set_zero(da, (long)V * P);
                    continue;
                }
                const T* hidden_before =
                    recalls(call, t, row) ? recalled_at(call, t, row) : output_at(call, t - 1, row);
                T* carry = carries + i * carry_size + memory.carry_size;
                if (i + 1 < rows) {
                    fetch(controller_at(call, t + 1, row + 1), controller_record);
                    fetch(da + V * P, V * P);
                }
                for (int v = 0; v < V; v++)
                    controller.backward(controller_at(call, t + 1, row) + v * one_record,
                                        controller_at(call, t, row) + v * one_record,
                                        hidden_before + v * (t ? F : H), dhidden + ((long)i * V + v) * Hp,
                                        carry + v * controller.carry_size, da + (long)v * P,
                                        dnow + ((long)i * V + v) * Fp, call.extra,
                                        gradients.dextra + row * extra_size());
            }
            const T* to_reads = sum_held(call, t, first, alive, dpre, dheld, dheld + (long)rows * V * P, held);
            for (int v = 0; v < V; v++) {  // d[h, r]_{t−1}
                const Panels<T> of_hidden(P, H), of_reads(P, Q);
                T *now = dnow + v * Fp, *before = dfeatures + v * Fp;
                of_hidden.product({dpre + v * P, V * P, now, V * Fp, before, V * Fp}, alive,
                                  weights.to_hidden + v * of_hidden.size());
                now += Hp, before += Hp;
                if (to_reads)
                    of_reads.product({to_reads + v * P, V * P, now, V * Fp, before, V * Fp}, alive,
                                     weights.to_reads + v * of_reads.size());
                for (int i = 0; !to_reads && i < alive; i++) copy(before + (long)i * V * Fp, now + (long)i * V * Fp, Q);
            }
            for (int i = 0; i < rows; i++)
                if (recalls(call, t, first + i))
                    recall_backward(call, gradients, t, first + i, weights.recall, dfeatures + (long)i * V * Fp,
                                    dpast + i * past, scratch);
        }
        T* const* dmemory_state = gradients.dstate + controller.kStates;
        for (int i = 0; i < rows; i++) {
            const long row = first + i;
            T* d = dfeatures + (long)i * V * Fp;
            if (length(call, row) == 0) from_final_state(gradients, row, d);
            for (int k = 0; recall.L && k < H; k++) d[k] += dpast[i * past + (long)recall.L * H + k];
            memory.end_backward(carries + i * carry_size, dmemory_state, row);
            for (int v = 0; v < V; v++) {
                controller.end_backward(carries + i * carry_size + memory.carry_size + v * controller.carry_size,
                                        gradients.dstate, row * V + v);
                copy(gradients.dstate[0] + (row * V + v) * H, d + v * Fp, H);
                copy(dmemory_state[memory.kStates - 1] + (row * V + v) * Q, d + v * Fp + Hp, Q);
            }
        }
    }

    // The gradients of preactivations that go on to what was read before a step, or null if none do: a row's sum since it
    // last accessed the memory, once it did, and 0 until then. What a row gets does not depend on the others.
    const T* sum_held(const Forward<T>& call, int t, int first, int rows, const T* dpre, T* sums, T* ready,
                      bool* held) const {
        bool any = false, all = true;
        for (int i = 0; i < rows; i++) {
            const bool stays = holds(call, t - 1, first + i);
            any |= !stays, all &= !stays && !held[i];
            held[i] = stays;
        }
        if (all) return dpre;
        const long size = (long)V * P;
        for (int i = 0; i < rows; i++) {
            T *sum = sums + i * size, *own = ready + i * size;
            for (long k = 0; k < size; k++) sum[k] += dpre[i * size + k];
            if (!any) continue;
            if (held[i]) set_zero(own, size);
            else copy(own, sum, size), set_zero(sum, size);
        }
        return any ? ready : nullptr;
    }

    // What came back to a_t goes on to the outputs that were recalled.
    void recall_backward(const Forward<T>& call, const Backward<T>& gradients, int t, long row, const T* weights,
                         T* dfeatures, T* dpast, T* scratch) const {
        const T* outputs[kMostRecalled];
        T* doutputs[kMostRecalled];
        const int L = recall.L;
        for (int j = 0; j < L; j++) {
            const int step = t - L + j;
            outputs[j] = output_at(call, step, row);
            doutputs[j] = step >= 0    ? dpast + (long)(step % L) * H
                          : step == -1 ? dpast + (long)L * H
                                       : gradients.dcache + (row * L + L + 1 + step) * H;
        }
        const T* reads = t ? features_at(call, t - 1, row) + H
                           : call.state[controller.kStates + memory.kStates - 1] + row * Q;
        T* da = scratch + recall.scratch_size;
        copy(da, dfeatures, H);
        set_zero(dfeatures, H);
        recall.backward(outputs, reads, weights, da, doutputs, dfeatures + Hp,
                        gradients.dattention + row * recall.weights_size, scratch);
    }

    // The contents after the accesses `first` … `last`, from the one before the first, which was kept.
    void play_back(const Forward<T>& call, long row, int first, int last, T* contents) const {
        const T* before = checkpoint_at(call, first, row);
        for (int number = first; number <= last; number++, before = contents, contents += memory.content_size) {
            const T* record = memory_at(call, number + 1, row);
            memory.replay(record, memory_at(call, number, row), before, contents, (int)record[wrote],
                          number == last);
        }
    }

    void from_final_state(const Backward<T>& gradients, long row, T* d) const {
        const T* dhidden = gradients.dfinal_state[0];
        const T* dreads = gradients.dfinal_state[controller.kStates + memory.kStates - 1];
        for (int v = 0; v < V; v++, d += Fp) {
            for (int k = 0; k < H; k++) d[k] = dhidden ? dhidden[(row * V + v) * H + k] : 0;
            for (int k = 0; k < Q; k++) d[Hp + k] = dreads ? dreads[(row * V + v) * Q + k] : 0;
        }
    }
};

}  // namespace mnemon
