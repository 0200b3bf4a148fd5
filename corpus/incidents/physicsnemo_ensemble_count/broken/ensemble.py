from abc import ABC, abstractmethod
from typing import Tuple, Union

import torch
import torch.distributed as dist

Tensor = torch.Tensor


class EnsembleMetrics(ABC):
    """Abstract class for ensemble performance related metrics."""

    def __init__(self, input_shape: Tuple[int, ...], device: Union[str, torch.device] = "cpu"):
        self.input_shape = list(input_shape)
        self.device = torch.device(device)

    def _check_shape(self, inputs: Tensor) -> None:
        if list(inputs.shape[1:]) != self.input_shape:
            raise ValueError(f"Expected inputs of shape {self.input_shape} but got {list(inputs.shape[1:])}")

    @abstractmethod
    def __call__(self, *args):
        """Initial calculation for metric."""

    @abstractmethod
    def update(self, *args):
        """Update the initial calculation."""


class Mean(EnsembleMetrics):
    """Utility class that computes the mean over a batched or ensemble dimension."""

    def __init__(self, input_shape: Tuple[int, ...], **kwargs):
        super().__init__(input_shape, **kwargs)
        self.sum = torch.zeros(self.input_shape, device=self.device)
        self.n = torch.zeros([], dtype=torch.int32, device=self.device)

    def __call__(self, inputs: Tensor, dim: int = 0) -> Tensor:
        if inputs.device != self.device:
            raise AssertionError(f"Input device, {inputs.device}, and class device, {self.device}, must be the same")
        self.sum = torch.sum(inputs, dim=dim)
        self.n = torch.as_tensor(inputs.shape[dim])
        # TODO(Dallas) Move distributed calls into finalize.
        if dist.is_initialized():
            # Collect sums across processes
            dist.all_reduce(self.sum, op=dist.ReduceOp.SUM)
            dist.all_reduce(self.n, op=dist.ReduceOp.SUM)
        return self.sum / self.n

    def update(self, inputs: Tensor, dim: int = 0) -> Tensor:
        self._check_shape(inputs)
        sums = torch.sum(inputs, dim=dim)
        n = torch.as_tensor(inputs.shape[dim])
        if dist.is_initialized():
            dist.all_reduce(sums, op=dist.ReduceOp.SUM)
            dist.all_reduce(n, op=dist.ReduceOp.SUM)
        self.sum += sums
        self.n += n
        return self.sum / self.n
