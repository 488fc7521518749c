"""mnemon: memory-augmented neural networks for PyTorch."""
