"""Experiments past one machine: their jobs on a Ray cluster or in a SLURM queue, and fair learning rates."""
