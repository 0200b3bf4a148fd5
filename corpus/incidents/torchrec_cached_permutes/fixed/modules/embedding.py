from typing import Dict, List

import torch
from torch import nn

from modules.regroup import KeyedTensor


class EmbeddingBagCollection(nn.Module):
    def __init__(self, tables: Dict[str, int], rows: int) -> None:
        super().__init__()
        self.embedding_bags = nn.ModuleDict({name: nn.EmbeddingBag(rows, dim, mode="sum") for name, dim in tables.items()})

    def forward(self, features: Dict[str, torch.Tensor]) -> KeyedTensor:
        names: List[str] = list(self.embedding_bags)
        values = [self.embedding_bags[name](features[name]) for name in names]
        return KeyedTensor(names, [v.shape[1] for v in values], torch.cat(values, dim=1))
