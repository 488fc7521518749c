"""The laws by the name of their settings: what a job that measures can be read back from."""

from mnemon.laws.base import Law
from mnemon.laws.fisher_curves import FisherCurves
from mnemon.laws.gradient_flow import GradientFlow
from mnemon.laws.holographic_noise import HolographicNoise
from mnemon.laws.hopfield_capacity import HopfieldCapacity
from mnemon.laws.sdm_recall import SdmRecall
from mnemon.laws.semantic_stages import SemanticStages

LAWS: dict[str, type[Law]] = {
    law.__name__: law
    for law in (HopfieldCapacity, HolographicNoise, SdmRecall, FisherCurves, SemanticStages, GradientFlow)
}
