from dataclasses import dataclass

import torch

from modeling.heads import replace_head
from modeling.resnet import build_backbone
from engine import fit


@dataclass
class Config:
    num_classes: int = 3
    width: int = 8
    lr: float = 1e-3
    epochs: int = 2
    device: str = "cuda" if torch.cuda.is_available() else "cpu"


def main():
    cfg = Config()
    torch.manual_seed(0)
    model = build_backbone(cfg.width).to(cfg.device)
    replace_head(model, cfg.num_classes)
    optimizer = torch.optim.AdamW(model.parameters(), lr=cfg.lr)
    fit(model, optimizer, cfg)


if __name__ == "__main__":
    main()
