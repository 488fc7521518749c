#include "dnc.hpp"
#include "kernels.hpp"

MNEMON_CONTROLLERS(dnc, DNCMemory)
