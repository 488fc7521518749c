"""Readers of data sets in the layouts they are published in. Nothing is downloaded, nothing is unpickled."""
