"""The variational models (thesis ch. 5): VMED, and the baselines CVAE and VLSTM.

All are an encoder and one :class:`LatentDecoder`; they differ in where the prior comes from and how often it is asked:

    vmed     at every step, a mixture from what the decoder's K heads read in the memory that the encoder filled
    vlstm    at every step, a Gaussian from the decoder's state (VRNN of Chung et al., 2015, with LSTMs); no memory
    cvae     once, a Gaussian from the encoder's last state, with which the decoder begins; no memory

Latent variables have half as many numbers as a word of the memory has, with or without one, or ``latent_size``.

Deviations: priors and posteriors without a memory are one linear layer each, like VMED's posterior; the author's
program has two. CVAE has neither a bag-of-words loss nor dialogue acts, as in the thesis. Encoder and decoder embed
apart.
"""

from collections.abc import Callable
from typing import Any

from torch import nn

from mnemon.cell import MemoryCell
from mnemon.errors import UserError
from mnemon.interface import LinearInterface
from mnemon.memory import Memory, NoMemory
from mnemon.models.config import ModelConfig, ModelEntry, make_controller
from mnemon.models.encoder import LateFusion, ViewEncoder
from mnemon.models.encoder_decoder import EncoderDecoder
from mnemon.models.latent import HiddenPrior, MappedPrior, Prior, ReadPrior
from mnemon.models.multi_view import EMBEDDING, dnc_memory, view_cell
from mnemon.models.variational_decoder import LatentDecoder
from mnemon.views import ViewSizes
from mnemon.writing import RegularWriting, WriteProtected

FILE = "mnemon/models/variational.py"


def _variational(
    config: ModelConfig,
    sizes: ViewSizes,
    output_size: int,
    memory: Callable[[], Memory[Any, Any]],
    prior: Prior,
    *,
    once: bool = False,
) -> EncoderDecoder:
    """Encoders of all views, and a decoder with a controller of its own, as large as theirs."""
    if sizes.answer != "sequence":
        raise UserError(f"model {config.name!r} answers with a sequence, which this task does not ask for")
    views = [ViewEncoder(tokens, view_cell(config, memory())) for tokens in sizes.views]
    embedding = config.embedding or EMBEDDING
    cell = MemoryCell(
        make_controller(config, embedding + prior.latent_size, len(views) * config.hidden),
        memory(),
        interface=LinearInterface(bias=config.biases),
        writing=WriteProtected() if config.decoder_writes is False else RegularWriting(),
        output_size=output_size,
        output_bias=config.biases,
        sees_reads=False,
    )
    decoder = LatentDecoder(
        cell,
        prior,
        view_cell(config, NoMemory()),
        once=once,
        free_bits=config.free_bits or 0.0,
        alone=config.latents_alone or False,
    )
    return EncoderDecoder(LateFusion(views), [decoder])


def _vmed(config: ModelConfig, sizes: ViewSizes, output_size: int) -> nn.Module:
    if len(sizes.views) > 1:
        raise UserError(f"model {config.name!r} reads one view, not {len(sizes.views)}: write dmnc-late or dmnc-early")
    if config.latent_size is None:
        prior: Prior = ReadPrior(config.word, weighting=config.mode_weighting or "max")
    elif config.mode_weighting is None:
        prior = MappedPrior(config.word, config.heads, config.latent_size)
    else:
        raise UserError("modes that are mapped have weights of their own: leave out mode_weighting, or latent_size")
    return _variational(config, sizes, output_size, lambda: dnc_memory(config), prior)


def _vlstm(config: ModelConfig, sizes: ViewSizes, output_size: int) -> nn.Module:
    return _variational(config, sizes, output_size, NoMemory, _hidden_prior(config, sizes))


def _cvae(config: ModelConfig, sizes: ViewSizes, output_size: int) -> nn.Module:
    return _variational(config, sizes, output_size, NoMemory, _hidden_prior(config, sizes), once=True)


def _hidden_prior(config: ModelConfig, sizes: ViewSizes) -> HiddenPrior:
    if config.latent_size is None and config.word < 2:
        raise UserError(f"latent variables have half the numbers of a word: write word=2 or more, not {config.word}")
    return HiddenPrior(len(sizes.views) * config.hidden, config.latent_size or config.word // 2)


VARIATIONAL: dict[str, ModelEntry] = {
    "vmed": ModelEntry(
        "Variational memory encoder-decoder: the read heads are the modes of a mixture prior",
        "§5.3",
        FILE,
        _vmed,
        reads_views=True,
        is_variational=True,
    ),
    "cvae": ModelEntry(
        "Conditional VAE: one latent variable for the whole answer",
        "§5.2.1, §5.4.1",
        FILE,
        _cvae,
        has_memory=False,
        reads_views=True,
        is_variational=True,
    ),
    "vlstm": ModelEntry(
        "Variational LSTM: a latent variable at every step, without a memory",
        "§5.4.1",
        FILE,
        _vlstm,
        has_memory=False,
        reads_views=True,
        is_variational=True,
    ),
}
