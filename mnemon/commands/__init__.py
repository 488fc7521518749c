"""The commands of ``mnemon``, one file each; :mod:`mnemon.cli` puts them together."""
