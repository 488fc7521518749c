// The C interface, in single and double precision. For every controller and memory the sizes of the workspaces, forward
// and backward: mnemon_<controller>_<memory>_<what>_<precision>. For every memory, compound ones apart, a step by itself:
// mnemon_<memory>_step_<what>_<precision>. One file per memory makes them, so that compilers can work side by side.
#pragma once

#include "controllers.hpp"
#include "memory_step.hpp"
#include "network.hpp"

#define MNEMON_KERNELS(controller, Controller, memory, Memory, suffix, T)                                             \
    extern "C" void mnemon_##controller##_##memory##_sizes_##suffix(const mnemon::Config* config, long* sizes) {      \
        mnemon::Network<T, mnemon::Controller, mnemon::Memory>(*config).sizes(sizes);                                 \
    }                                                                                                                 \
    extern "C" void mnemon_##controller##_##memory##_forward_##suffix(const mnemon::Config* config,                   \
                                                                      const mnemon::Forward<T>* call) {               \
        mnemon::Network<T, mnemon::Controller, mnemon::Memory>(*config).forward(*call);                               \
    }                                                                                                                 \
    extern "C" void mnemon_##controller##_##memory##_backward_##suffix(                                               \
        const mnemon::Config* config, const mnemon::Forward<T>* call, const mnemon::Backward<T>* gradients) {         \
        mnemon::Network<T, mnemon::Controller, mnemon::Memory>(*config).backward(*call, *gradients);                  \
    }

#define MNEMON_PRECISIONS(controller, Controller, memory, Memory)      \
    MNEMON_KERNELS(controller, Controller, memory, Memory, f32, float) \
    MNEMON_KERNELS(controller, Controller, memory, Memory, f64, double)

#define MNEMON_STEP(memory, Memory, suffix, T)                                                               \
    extern "C" void mnemon_##memory##_step_forward_##suffix(const mnemon::Config* config,                    \
                                                            const mnemon::StepCall<T>* call) {               \
        mnemon::MemoryStep<T, mnemon::Memory>(*config).forward(*call);                                       \
    }                                                                                                        \
    extern "C" void mnemon_##memory##_step_backward_##suffix(const mnemon::Config* config,                   \
                                                             const mnemon::StepCall<T>* call,                \
                                                             const mnemon::StepBackward<T>* gradients) {     \
        mnemon::MemoryStep<T, mnemon::Memory>(*config).backward(*call, *gradients);                          \
    }

#define MNEMON_SEQUENCES(memory, Memory)                                        \
    MNEMON_PRECISIONS(tanh, TanhController, memory, Memory)                     \
    MNEMON_PRECISIONS(lstm, LSTMController, memory, Memory)                     \
    MNEMON_PRECISIONS(layer_norm_lstm, LayerNormLSTMController, memory, Memory) \
    MNEMON_PRECISIONS(gru, GRUController, memory, Memory)

#define MNEMON_STEPS(memory, Memory)        \
    MNEMON_STEP(memory, Memory, f32, float) \
    MNEMON_STEP(memory, Memory, f64, double)
