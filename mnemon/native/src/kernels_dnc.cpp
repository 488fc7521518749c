#include "dnc.hpp"
#include "kernels.hpp"

MNEMON_SEQUENCES(dnc, DNCMemory)
MNEMON_STEPS(dnc, DNCMemory)
