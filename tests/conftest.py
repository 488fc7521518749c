"""Shapes are types: every annotation in mnemon is checked while the tests run."""

import torch
from jaxtyping import install_import_hook

install_import_hook("mnemon", "beartype.beartype").__enter__()
torch.set_num_threads(1)
