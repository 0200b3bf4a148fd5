"""Kornia's augmentations: modules without weights, whose settings follow their input."""

# https://kornia.readthedocs.io/en/latest/augmentation.html
class __getattr__(Module, weights=False): ...
