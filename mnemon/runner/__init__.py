"""The runner: an experiment's jobs, each in a process and a folder of its own, some at a time."""
