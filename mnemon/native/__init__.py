"""The native engine: whole sequences in C++, forward and backward, on the CPU."""
