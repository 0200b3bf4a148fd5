from typing import List, Tuple

import numpy as np
import torch
from torch import nn

__all__ = ["CropOrientationPredictor", "PreProcessor", "small_orientation"]


def small_orientation(num_classes: int = 4) -> nn.Module:
    return nn.Sequential(nn.Conv2d(3, 6, 3, stride=2), nn.BatchNorm2d(6), nn.ReLU(), nn.Flatten(), nn.LazyLinear(num_classes))


class PreProcessor(nn.Module):
    """Resizes, normalizes and batches crops."""

    def __init__(self, output_size: Tuple[int, int], batch_size: int, mean: float = 0.5, std: float = 1.0) -> None:
        super().__init__()
        self.output_size = output_size
        self.batch_size = batch_size
        self.mean, self.std = mean, std

    def sample_transforms(self, x: np.ndarray) -> torch.Tensor:
        img = torch.from_numpy(x.copy()).permute(2, 0, 1).float()
        return nn.functional.interpolate(img[None], size=self.output_size)[0]

    def __call__(self, x: List[np.ndarray]) -> List[torch.Tensor]:
        samples = [self.sample_transforms(sample) for sample in x]
        batches = [torch.stack(samples[i : i + self.batch_size]) for i in range(0, len(samples), self.batch_size)]
        return [(batch - self.mean) / self.std for batch in batches]


class CropOrientationPredictor(nn.Module):
    """Predicts by how many quarter turns a crop was rotated."""

    def __init__(self, pre_processor: PreProcessor, model: nn.Module) -> None:
        super().__init__()
        self.pre_processor = pre_processor
        self.model = model.eval()

    @torch.no_grad()
    def forward(self, crops: List[np.ndarray]) -> List[int]:
        if any(crop.ndim != 3 for crop in crops):
            raise ValueError("incorrect input shape: all crops are expected to be multi-channel 2D images.")

        processed_batches = self.pre_processor(crops)
        _device = next(self.model.parameters()).device
        predicted_batches = [self.model(batch.to(device=_device)) for batch in processed_batches]
        predicted_batches = [out_batch.argmax(dim=1).cpu().detach().numpy() for out_batch in predicted_batches]

        return [int(pred) for batch in predicted_batches for pred in batch]
