"""Parallel training."""

# https://nvidia.github.io/apex/parallel.html
def convert_syncbn_model(module, *args, **kwargs) -> Same[module]: ...

# https://nvidia.github.io/apex/parallel.html#apex.parallel.DistributedDataParallel
def DistributedDataParallel(module, *args, **kwargs) -> Same[module]: ...
