#include "none.hpp"
#include "kernels.hpp"

MNEMON_SEQUENCES(none, NoMemory)
MNEMON_STEPS(none, NoMemory)
