"""Segmentation models."""

# https://smp.readthedocs.io/
def __getattr__(*args, **kwargs) -> Module: ...
