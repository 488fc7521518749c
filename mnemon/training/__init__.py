"""Training: an own loop that sees the task and the model through protocols only.

Import from the modules themselves (``from mnemon.training.loop import train``): the loop needs accelerate, and
reading a record or a checkpoint should not.
"""
