from dataclasses import dataclass, field

import torch


@dataclass
class OptimConfig:
    lr: float = 0.01
    weight_decay: float = 0.01
    milestones: list = field(default_factory=lambda: [1, 3])


@dataclass
class Config:
    epochs: int = 4
    batch: int = 16
    width: int = 12
    seed: int = 123
    device: str = "cuda" if torch.cuda.is_available() else "cpu"
    optim: OptimConfig = field(default_factory=OptimConfig)
