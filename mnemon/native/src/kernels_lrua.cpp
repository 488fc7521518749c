#include "lrua.hpp"
#include "kernels.hpp"

MNEMON_SEQUENCES(lrua, LRUAMemory)
MNEMON_STEPS(lrua, LRUAMemory)
