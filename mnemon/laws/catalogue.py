"""The laws by the name of their settings: what a job that measures can be read back from."""

from mnemon.laws.base import Law
from mnemon.laws.hopfield_capacity import HopfieldCapacity

LAWS: dict[str, type[Law]] = {law.__name__: law for law in (HopfieldCapacity,)}
