"""Wrappers that run a module on several devices."""

from torch.nn import DataParallel

# https://docs.pytorch.org/docs/stable/generated/torch.nn.parallel.DistributedDataParallel.html
class DistributedDataParallel(Overlay): ...

# https://docs.pytorch.org/docs/stable/generated/torch.nn.parallel.data_parallel.html
def data_parallel(module, inputs, device_ids=..., output_device=..., dim=..., module_kwargs=...) -> Any: ...
