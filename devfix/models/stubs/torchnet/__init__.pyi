"""TorchNet."""
