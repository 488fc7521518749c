#include "none.hpp"
#include "kernels.hpp"

MNEMON_CONTROLLERS(none, NoMemory)
