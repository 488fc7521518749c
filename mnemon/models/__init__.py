"""Whole models: compositions of cells, baselines, and their catalogue."""
