from dataclasses import dataclass
from typing import List

import torch


@dataclass
class Batch:
    names: List[str]
    features: torch.Tensor
    target: torch.Tensor
    weight: torch.Tensor

    def __len__(self):
        return len(self.names)


def collate(samples) -> Batch:
    return Batch(
        names=[s["name"] for s in samples],
        features=torch.stack([s["features"] for s in samples]),
        target=torch.tensor([s["target"] for s in samples]),
        weight=torch.tensor([s["weight"] for s in samples]),
    )
