"""Readers of conversations, one file for each layout, and their parts for training and testing."""
