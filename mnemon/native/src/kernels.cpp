// The C interface: for every controller and memory, in single and double precision, the sizes of the workspaces, forward
// and backward. Names are mnemon_<controller>_<memory>_<what>_<precision>.

#include "controllers.hpp"
#include "network.hpp"
#include "ntm.hpp"

using namespace mnemon;

#define MNEMON_KERNELS(controller, Controller, memory, Memory, suffix, T)                                            \
    extern "C" void mnemon_##controller##_##memory##_sizes_##suffix(const Config* config, long* sizes) {             \
        const Network<T, Controller, Memory> network(*config);                                                       \
        sizes[0] = network.record_size();                                                                            \
        sizes[1] = network.content_size();                                                                           \
        sizes[2] = network.extra_size();                                                                             \
    }                                                                                                                \
    extern "C" void mnemon_##controller##_##memory##_forward_##suffix(const Config* config, const Forward<T>* call) { \
        Network<T, Controller, Memory>(*config).forward(*call);                                                      \
    }                                                                                                                \
    extern "C" void mnemon_##controller##_##memory##_backward_##suffix(const Config* config, const Forward<T>* call, \
                                                                       const Backward<T>* gradients) {               \
        Network<T, Controller, Memory>(*config).backward(*call, *gradients);                                         \
    }

#define MNEMON_PRECISIONS(controller, Controller, memory, Memory)     \
    MNEMON_KERNELS(controller, Controller, memory, Memory, f32, float) \
    MNEMON_KERNELS(controller, Controller, memory, Memory, f64, double)

#define MNEMON_CONTROLLERS(memory, Memory)                       \
    MNEMON_PRECISIONS(tanh, TanhController, memory, Memory)      \
    MNEMON_PRECISIONS(lstm, LSTMController, memory, Memory)

MNEMON_CONTROLLERS(ntm, NTMMemory)
