// One step of a memory by itself, for a batch: what cells use whose controller or interface has no kernel.
#pragma once

#include "config.hpp"
#include "parallel.hpp"

namespace mnemon {

// The tensors of a step. State tensors come in the order of the Python NamedTuple; the last is what was read.
template <class T> struct StepCall {
    const T* vectors;  // B X: interface vectors
    const T* const* state;
    T* const* final_state;
    int64_t write;
};
template <class T> struct StepBackward {
    const T* const* dfinal_state;  // an entry may be null: no gradient
    T* dvectors;
    T* const* dstate;
};

template <class T, template <class> class MemoryOf> class MemoryStep {
  public:
    explicit MemoryStep(const Config& config)
        : c(config), memory(config, places), X(c.interface), Q(c.reads * c.word), record(places.used) {}

    void forward(const StepCall<T>& call) const {
        in_parallel(c.batch, c.threads, [&](int row) {
            static thread_local Workspace own;
            T* before = own.get<T>(2 * record + memory.content_size + memory.scratch_size);
            T *now = before + record, *content = now + record;
            take(call, row, before, now, content, call.final_state[memory.kStates - 1] + (long)row * Q,
                 content + memory.content_size);
            memory.end(now, content, call.final_state, row);
        });
    }

    // Nothing is kept of the step: it is taken once more.
    void backward(const StepCall<T>& call, const StepBackward<T>& gradients) const {
        in_parallel(c.batch, c.threads, [&](int row) {
            static thread_local Workspace own;
            const long size = memory.content_size;
            T* before = own.get<T>(2 * record + 2 * size + memory.carry_size + Q + memory.scratch_size);
            T *now = before + record, *content_before = now + record, *content = content_before + size;
            T *carry = content + size, *reads = carry + memory.carry_size, *scratch = reads + Q;
            const T* const* state = call.state;
            memory.begin(before, content_before, state, row);
            take(call, row, before, now, content, reads, scratch);
            set_zero(carry, memory.carry_size);
            memory.begin_backward(carry, gradients.dfinal_state, row);
            const T* dreads = gradients.dfinal_state[memory.kStates - 1];
            if (dreads) copy(reads, dreads + (long)row * Q, Q);
            else set_zero(reads, Q);
            memory.backward(now, before, content_before, content, reads, carry, gradients.dvectors + (long)row * X,
                            call.write != 0, scratch);
            memory.end_backward(carry, gradients.dstate, row);
            set_zero(gradients.dstate[memory.kStates - 1] + (long)row * Q, Q);  // what was read last plays no part
        });
    }

  private:
    Config c;
    Places<T> places;
    MemoryOf<T> memory;
    int X, Q;
    long record;

    void take(const StepCall<T>& call, long row, T* before, T* now, T* content, T* reads, T* scratch) const {
        memory.begin(before, content, call.state, row);
        copy(now + memory.xi, call.vectors + row * X, X);
        zero_padding(now + memory.xi, X);
        memory.forward(now, before, content, reads, call.write != 0, scratch);
    }
};

}  // namespace mnemon
