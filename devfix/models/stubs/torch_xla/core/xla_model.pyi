"""Devices of PyTorch/XLA."""

from torch_xla import device as xla_device
