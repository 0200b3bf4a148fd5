"""Utilities for training."""

# https://huggingface.co/docs/timm
def accuracy(output: On, target: On, *args, **kwargs) -> Any: ...
