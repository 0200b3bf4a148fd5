"""Modules that move the batches that they get."""

# https://mmcv.readthedocs.io/en/v1.7.0/api.html#mmcv.parallel.MMDataParallel
from torch.nn import DataParallel as MMDataParallel

# https://mmcv.readthedocs.io/en/v1.7.0/api.html#mmcv.parallel.MMDistributedDataParallel
from torch.nn import DataParallel as MMDistributedDataParallel
