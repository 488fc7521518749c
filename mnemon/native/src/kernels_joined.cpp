#include "joined.hpp"
#include "kernels.hpp"

MNEMON_SEQUENCES(joined, JoinedMemory)
