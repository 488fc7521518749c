"""Embeddings that begin with vectors from elsewhere, such as GloVe's or word2vec's (thesis, appendix of chapter 5).

Every embedding of a model begins with them, that of the encoder as well as that of the decoder; tokens without a vector
begin as they would without any. All go on learning.

Letters: ``K`` tokens with a vector, ``E`` its numbers.
"""

import torch
from torch import nn

from mnemon.errors import UserError
from mnemon.views import TokenVectors


def begin_with(model: nn.Module, known: TokenVectors) -> None:
    """Put the vectors into the embeddings of a model."""
    for part in model.modules():
        if isinstance(part, nn.Embedding):
            size = known.vectors.shape[1]
            if part.embedding_dim != size:
                raise UserError(f"word vectors of {size} numbers do not fit: write embedding={size}")
            with torch.no_grad():
                part.weight[known.tokens.to(part.weight.device)] = known.vectors.to(part.weight)
