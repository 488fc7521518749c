"""The runner: an experiment's jobs, each in a folder of its own, some processes at a time."""
