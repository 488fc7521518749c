#include "kernels.hpp"
#include "turns.hpp"

MNEMON_PRECISIONS(tanh, TanhController, turns, TurnsMemory)
MNEMON_PRECISIONS(lstm, LSTMController, turns, TurnsMemory)
MNEMON_PRECISIONS(gru, GRUController, turns, TurnsMemory)
