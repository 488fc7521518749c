// A whole sequence, forward and backward: controller × interface × memory, composed as the Python parts are.
//
// Each thread takes a few rows of the batch through all steps, so that their memories stay in its cache and the weights
// are read once for all of them. What backward needs of a step is a *record*, kept for every step; the memory's content
// (and links) is large, so it is kept only every few steps and played back from there.
#pragma once

#include <algorithm>

#include "config.hpp"
#include "controllers.hpp"
#include "parallel.hpp"

namespace mnemon {

// Copies a matrix so that its rows are padded.
template <class T> void pad_rows(const T* from, int rows, int columns, T* to) {
    const int all = padded<T>(columns);
    for (int i = 0; i < rows; i++) {
        std::memcpy(to + (long)i * all, from + (long)i * columns, columns * sizeof(T));
        zero_padding(to + (long)i * all, columns);
    }
}
template <class T> void pad_rows_transposed(const T* from, int rows, int columns, T* to) {
    const int all = padded<T>(rows);
    for (int j = 0; j < columns; j++) {
        for (int i = 0; i < rows; i++) to[(long)j * all + i] = from[(long)i * columns + j];
        zero_padding(to + (long)j * all, rows);
    }
}

template <class T, template <class> class ControllerOf, template <class> class MemoryOf> class Network {
  public:
    explicit Network(const Config& config)
        : c(config), controller(config, places), memory(config, places), H(c.hidden), P(c.preactivations),
          X(c.interface), Q(c.reads * c.word), Pp(padded<T>(P)), Xp(padded<T>(X)), Hp(padded<T>(H)),
          F(H + Q), Fp(padded<T>(F)), record(places.used) {}

    long record_size() const { return record; }
    long content_size() const { return memory.content_size; }
    long extra_size() const { return controller.extra_size; }

    void forward(const Forward<T>& call) const {
        static thread_local Workspace shared;
        T* recurrent = shared.get<T>((long)F * Pp + (long)H * Xp + Xp);
        T* interface = recurrent + (long)F * Pp;
        T* bias = interface + (long)H * Xp;
        pad_rows(call.recurrent, F, P, recurrent);
        pad_rows(call.interface, H, X, interface);
        pad_rows(call.interface_bias, 1, X, bias);
        in_parallel(tiles(), c.threads, [&](int tile) { forward_tile(call, tile, recurrent, interface, bias); });
    }

    void backward(const Forward<T>& call, const Backward<T>& gradients) const {
        static thread_local Workspace shared;
        T* recurrent = shared.get<T>((long)P * Fp + (long)X * Hp);
        T* interface = recurrent + (long)P * Fp;
        pad_rows_transposed(call.recurrent, F, P, recurrent);
        pad_rows_transposed(call.interface, H, X, interface);
        in_parallel(tiles(), c.threads, [&](int tile) { backward_tile(call, gradients, tile, recurrent, interface); });
    }

  private:
    Config c;
    Places<T> places;
    ControllerOf<T> controller;
    MemoryOf<T> memory;
    int H, P, X, Q, Pp, Xp, Hp, F, Fp;
    long record;

    int tiles() const { return (c.batch + c.rows_together - 1) / c.rows_together; }
    int length(const Forward<T>& call, long row) const { return call.lengths ? (int)call.lengths[row] : c.steps; }
    bool writes(const Forward<T>& call, int step) const { return !call.schedule || call.schedule[step]; }

    // Records are numbered from 0, the state before the first step; when none is kept, two take turns.
    T* record_at(const Forward<T>& call, int number, long row) const {
        return call.records + ((long)(c.keep_records ? number : number & 1) * c.batch + row) * record;
    }
    T* checkpoint_at(const Forward<T>& call, int step, long row) const {
        return call.checkpoints + ((long)(step / c.checkpoint_every) * c.batch + row) * memory.content_size;
    }
    // [h, r] before a step.
    const T* hidden_before(const Forward<T>& call, int step, long row) const {
        return step ? call.features + ((long)(step - 1) * c.batch + row) * F : call.state[0] + row * H;
    }

    void forward_tile(const Forward<T>& call, int tile, const T* recurrent, const T* interface, const T* bias) const {
        static thread_local Workspace own;
        const int first = tile * c.rows_together, rows = std::min(c.rows_together, c.batch - first);
        const long per_row = memory.content_size + Fp + Pp + Xp;
        T* contents = own.get<T>(rows * per_row + memory.scratch_size);
        T* features = contents + rows * memory.content_size;  // [h, r] of the step before
        T* preactivations = features + (long)rows * Fp;
        T* vectors = preactivations + (long)rows * Pp;
        T* scratch = vectors + (long)rows * Xp;
        const T* const* memory_state = call.state + controller.kStates;
        int longest = 0;
        for (int i = 0; i < rows; i++) {
            const long row = first + i;
            T* start = record_at(call, 0, row);
            controller.begin(start, call.state, row);
            memory.begin(start, contents + i * memory.content_size, memory_state, row);
            std::memcpy(features + (long)i * Fp, call.state[0] + row * H, H * sizeof(T));
            std::memcpy(features + (long)i * Fp + H, memory_state[memory.kStates - 1] + row * Q, Q * sizeof(T));
            longest = std::max(longest, length(call, row));
        }
        for (int t = 0; t < longest; t++) {
            for (int i = 0; i < rows; i++)
                std::memcpy(preactivations + (long)i * Pp, call.inputs + ((long)t * c.batch + first + i) * P,
                            P * sizeof(T));
            product(rows, P, F, features, Fp, recurrent, Pp, preactivations, Pp, preactivations, Pp);
            for (int i = 0; i < rows; i++) {
                if (t >= length(call, first + i)) continue;
                T* now = record_at(call, t + 1, first + i);
                std::memcpy(now + controller.pre, preactivations + (long)i * Pp, P * sizeof(T));
                controller.forward(now, record_at(call, t, first + i), features + (long)i * Fp, call.extra);
            }
            product(rows, X, H, features, Fp, interface, Xp, bias, 0, vectors, Xp);
            for (int i = 0; i < rows; i++) {
                const long row = first + i;
                if (t >= length(call, row)) continue;
                T* now = record_at(call, t + 1, row);
                T* content = contents + i * memory.content_size;
                if (c.keep_records && t % c.checkpoint_every == 0)
                    std::memcpy(checkpoint_at(call, t, row), content, memory.content_size * sizeof(T));
                std::memcpy(now + memory.xi, vectors + (long)i * Xp, Xp * sizeof(T));
                memory.forward(now, record_at(call, t, row), content, features + (long)i * Fp + H, writes(call, t),
                               scratch);
                std::memcpy(call.features + ((long)t * c.batch + row) * F, features + (long)i * Fp, F * sizeof(T));
            }
        }
        T* const* memory_final = call.final_state + controller.kStates;
        for (int i = 0; i < rows; i++) {
            const long row = first + i;
            const int end = length(call, row);
            for (int t = end; t < c.steps; t++) set_zero(call.features + ((long)t * c.batch + row) * F, F);
            const T* last = record_at(call, end, row);
            std::memcpy(call.final_state[0] + row * H, features + (long)i * Fp, H * sizeof(T));
            controller.end(last, call.final_state, row);
            memory.end(last, contents + i * memory.content_size, memory_final, row);
            std::memcpy(memory_final[memory.kStates - 1] + row * Q, features + (long)i * Fp + H, Q * sizeof(T));
        }
    }

    void backward_tile(const Forward<T>& call, const Backward<T>& gradients, int tile, const T* recurrent,
                       const T* interface) const {
        static thread_local Workspace own;
        const int first = tile * c.rows_together, rows = std::min(c.rows_together, c.batch - first);
        const int every = c.checkpoint_every;
        const long content = memory.content_size, carry_size = memory.carry_size + controller.carry_size;
        const long per_row = carry_size + 2 * Fp + Hp + Pp + Xp + (long)(every + 1) * content;
        T* carries = own.get<T>(rows * per_row + memory.scratch_size);
        T* dfeatures = carries + rows * carry_size;    // d[h, r] that came from the step after
        T* dnow = dfeatures + (long)rows * Fp;         // with what came from the output
        T* dhidden = dnow + (long)rows * Fp;
        T* dpre = dhidden + (long)rows * Hp;
        T* dvector = dpre + (long)rows * Pp;
        T* contents = dvector + (long)rows * Xp;       // of one chunk of steps
        T* scratch = contents + rows * (long)(every + 1) * content;
        set_zero(carries, rows * (carry_size + 2 * Fp + Hp + Pp + Xp));
        const T* const* dmemory_final = gradients.dfinal_state + controller.kStates;

        int longest = 0;
        for (int i = 0; i < rows; i++) {
            const long row = first + i;
            T* carry = carries + i * carry_size;
            memory.begin_backward(carry, dmemory_final, row);
            controller.begin_backward(carry + memory.carry_size, gradients.dfinal_state, row);
            longest = std::max(longest, length(call, row));
            if (controller.extra_size) set_zero(gradients.dextra + row * controller.extra_size, controller.extra_size);
        }
        for (int t = longest; t < c.steps; t++)
            for (int i = 0; i < rows; i++) {
                set_zero(gradients.dpreactivations + ((long)t * c.batch + first + i) * P, P);
                set_zero(gradients.dinterface + ((long)t * c.batch + first + i) * X, X);
            }
        for (int chunk = (longest - 1) / every * every; longest && chunk >= 0; chunk -= every) {
            const int steps = std::min(every, longest - chunk);
            for (int i = 0; i < rows; i++) replay(call, first + i, chunk, steps, contents + i * (every + 1) * content);
            for (int t = chunk + steps - 1; t >= chunk; t--) {
                for (int i = 0; i < rows; i++) {
                    const long row = first + i;
                    T *d = dnow + (long)i * Fp, *dx = dvector + (long)i * Xp;
                    if (t >= length(call, row)) {
                        set_zero(dx, Xp);
                        set_zero(dhidden + (long)i * Hp, Hp);
                        set_zero(gradients.dinterface + ((long)t * c.batch + row) * X, X);
                        continue;
                    }
                    const T* from_output = gradients.dfeatures + ((long)t * c.batch + row) * F;
                    T* from_after = dfeatures + (long)i * Fp;
                    if (t == length(call, row) - 1) from_final_state(gradients, row, from_after);
                    for (int k = 0; k < F; k++) d[k] = from_output[k] + from_after[k];
                    const T* before = contents + ((long)i * (every + 1) + (t - chunk)) * content;
                    memory.backward(record_at(call, t + 1, row), record_at(call, t, row), before, before + content,
                                    d + H, carries + i * carry_size, dx, writes(call, t), scratch);
                    std::memcpy(gradients.dinterface + ((long)t * c.batch + row) * X, dx, X * sizeof(T));
                    std::memcpy(dhidden + (long)i * Hp, d, H * sizeof(T));
                }
                product(rows, H, X, dvector, Xp, interface, Hp, dhidden, Hp, dhidden, Hp);  // dh += Wᵀ dξ
                for (int i = 0; i < rows; i++) {
                    const long row = first + i;
                    T *da = dpre + (long)i * Pp, *direct = dnow + (long)i * Fp;
                    set_zero(direct, Fp);
                    if (t >= length(call, row)) {
                        set_zero(da, Pp);
                    } else {
                        controller.backward(record_at(call, t + 1, row), record_at(call, t, row),
                                            hidden_before(call, t, row), dhidden + (long)i * Hp,
                                            carries + i * carry_size + memory.carry_size, da, direct, call.extra,
                                            gradients.dextra + row * controller.extra_size);
                    }
                    std::memcpy(gradients.dpreactivations + ((long)t * c.batch + row) * P, da, P * sizeof(T));
                }
                product(rows, F, P, dpre, Pp, recurrent, Fp, dnow, Fp, dfeatures, Fp);  // d[h, r]_{t−1}
            }
        }
        T* const* dmemory_state = gradients.dstate + controller.kStates;
        for (int i = 0; i < rows; i++) {
            const long row = first + i;
            T* d = dfeatures + (long)i * Fp;
            if (length(call, row) == 0) from_final_state(gradients, row, d);
            memory.end_backward(carries + i * carry_size, dmemory_state, row);
            controller.end_backward(carries + i * carry_size + memory.carry_size, gradients.dstate, row);
            std::memcpy(gradients.dstate[0] + row * H, d, H * sizeof(T));
            std::memcpy(dmemory_state[memory.kStates - 1] + row * Q, d + H, Q * sizeof(T));
        }
    }

    // The contents before each step of a chunk, and after its last.
    void replay(const Forward<T>& call, long row, int chunk, int steps, T* contents) const {
        if (chunk >= length(call, row)) return;
        std::memcpy(contents, checkpoint_at(call, chunk, row), memory.content_size * sizeof(T));
        for (int s = 0; s < steps && chunk + s < length(call, row); s++)
            memory.replay(record_at(call, chunk + s + 1, row), record_at(call, chunk + s, row),
                          contents + s * memory.content_size, contents + (s + 1) * memory.content_size,
                          writes(call, chunk + s));
    }

    void from_final_state(const Backward<T>& gradients, long row, T* d) const {
        const T* dhidden = gradients.dfinal_state[0];
        const T* dreads = gradients.dfinal_state[controller.kStates + memory.kStates - 1];
        for (int k = 0; k < H; k++) d[k] = dhidden ? dhidden[row * H + k] : 0;
        for (int k = 0; k < Q; k++) d[H + k] = dreads ? dreads[row * Q + k] : 0;
    }
};

}  // namespace mnemon
