#include "over_steps.hpp"

#define MNEMON_OVER_STEPS(suffix, T)                                                                              \
    extern "C" void mnemon_over_steps_##suffix(long steps, const int64_t* which, const T* left, int rows,         \
                                               long left_stride, const T* right, int columns, long right_stride, \
                                               T* to, int threads) {                                              \
        mnemon::OverSteps<T>(steps, which, {left, rows, left_stride}, {right, columns, right_stride})             \
            .sum(to, threads);                                                                                    \
    }

MNEMON_OVER_STEPS(f32, float)
MNEMON_OVER_STEPS(f64, double)
