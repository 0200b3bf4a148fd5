"""Wrappers that run a module on several devices."""

from torch.nn import DataParallel

# https://docs.pytorch.org/docs/stable/generated/torch.nn.parallel.DistributedDataParallel.html
class DistributedDataParallel(Overlay): ...
