// A step of RMSProp, as torch.optim.RMSprop takes it, in one pass over a parameter: s ← α s + (1 − α) g²,
// b ← μ b + g / (√s + ε), p ← p − η b. Without momentum there is no b but the quotient.
#include <cmath>

#include "parallel.hpp"

namespace mnemon {

template <class T> struct Settings {
    T rate, alpha, momentum, epsilon;
};

template <class T>
void rmsprop(long n, T* __restrict__ parameter, const T* __restrict__ gradient, T* __restrict__ square,
             T* __restrict__ buffer, Settings<T> with) {
    FlushDenormals guard;
    for (long i = 0; i < n; i++) {
        square[i] = with.alpha * square[i] + (1 - with.alpha) * gradient[i] * gradient[i];
        T step = gradient[i] / (std::sqrt(square[i]) + with.epsilon);
        if (buffer) step = buffer[i] = with.momentum * buffer[i] + step;
        parameter[i] -= with.rate * step;
    }
}

}  // namespace mnemon

#define MNEMON_RMSPROP(suffix, T)                                                                          \
    extern "C" void mnemon_rmsprop_##suffix(long n, T* parameter, const T* gradient, T* square, T* buffer, \
                                            double rate, double alpha, double momentum, double epsilon) {  \
        mnemon::rmsprop<T>(n, parameter, gradient, square, buffer,                                         \
                           {(T)rate, (T)alpha, (T)momentum, (T)epsilon});                                  \
    }

MNEMON_RMSPROP(f32, float)
MNEMON_RMSPROP(f64, double)
