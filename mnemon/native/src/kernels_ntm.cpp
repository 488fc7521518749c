#include "ntm.hpp"
#include "kernels.hpp"

MNEMON_CONTROLLERS(ntm, NTMMemory)
