#include "lrua.hpp"
#include "kernels.hpp"

MNEMON_CONTROLLERS(lrua, LRUAMemory)
