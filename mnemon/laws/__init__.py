"""Laws of memory, measured beside their formulas: one law a file."""
