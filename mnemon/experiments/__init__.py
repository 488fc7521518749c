"""The settings of the thesis's experiments, one file per table."""
