"""Transforms of images: objects without weights, which work where their input is."""

# https://docs.monai.io/en/stable/transforms.html
class __getattr__: ...
