#include "ntm.hpp"
#include "kernels.hpp"

MNEMON_SEQUENCES(ntm, NTMMemory)
MNEMON_STEPS(ntm, NTMMemory)
