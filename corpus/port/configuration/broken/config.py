from dataclasses import dataclass

import torch


@dataclass
class Config:
    device: str = "cuda"
    dtype: torch.dtype = torch.float32
