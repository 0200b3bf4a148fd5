"""Collection of loss functions. All of them output elementwise losses, to be weighted or averaged."""

from abc import abstractmethod
from typing import Any, Dict, List, Optional, Union

import torch
from torch import Tensor
from torch.nn import Module
from torch.nn.functional import one_hot


class LossFunction(Module):
    """Base class for loss functions."""

    def forward(self, prediction: Tensor, target: Tensor, weights: Optional[Tensor] = None, return_elements: bool = False) -> Tensor:
        """Forward pass for all loss functions."""
        elements = self._forward(prediction, target)
        if weights is not None:
            elements = elements * weights
        assert elements.size(dim=0) == target.size(dim=0)
        return elements if return_elements else torch.mean(elements)

    @abstractmethod
    def _forward(self, prediction: Tensor, target: Tensor) -> Tensor:
        """Syntax like `.forward`, for implentation in inheriting classes."""


class LogCoshLoss(LossFunction):
    """Log-cosh loss function. Acts like x^2 for small x; and like |x| for large x."""

    def _forward(self, prediction: Tensor, target: Tensor) -> Tensor:
        diff = prediction[:, 0] - target
        return diff + torch.nn.functional.softplus(-2.0 * diff) - 0.6931


class CrossEntropyLoss(LossFunction):
    """Compute cross-entropy loss for classification tasks, from integers or from a mapping of them."""

    def __init__(self, options: Union[int, List[Any], Dict[Any, int]], *args: Any, **kwargs: Any):
        """Construct CrossEntropyLoss."""
        super().__init__(*args, **kwargs)
        self._options = options
        self._nb_classes = options if isinstance(options, int) else len(options)
        self._loss = torch.nn.CrossEntropyLoss(reduction="none")

    def _forward(self, prediction: Tensor, target: Tensor) -> Tensor:
        """Transform outputs to angle and prepare prediction."""
        if isinstance(self._options, int):
            target_integer = target.to(torch.int64)
        elif isinstance(self._options, list):
            target_integer = torch.tensor([self._options.index(value) for value in target.tolist()], device=target.device)
        else:
            target_integer = torch.tensor([self._options[int(value)] for value in target], device=target.device)

        target_one_hot: Tensor = one_hot(target_integer, self._nb_classes)
        return self._loss(prediction.float(), target_one_hot.float())
