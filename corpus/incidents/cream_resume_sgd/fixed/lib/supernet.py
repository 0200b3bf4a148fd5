import random

import torch
from torch import nn


class SuperNet(nn.Module):
    """Every stage has choices; a path takes one of each."""

    def __init__(self, stages=2, choices=2, dim=8, num_classes=4):
        super().__init__()
        self.stem = nn.Linear(6, dim)
        self.blocks = nn.ModuleList(
            nn.ModuleList(nn.Sequential(nn.Linear(dim, dim * (c + 1)), nn.ReLU(), nn.Linear(dim * (c + 1), dim)) for c in range(choices))
            for _ in range(stages)
        )
        self.classifier = nn.Linear(dim, num_classes)
        self.meta_layer = nn.Linear(dim, 1)

    def forward(self, x, path):
        x = self.stem(x)
        for stage, choice in zip(self.blocks, path):
            x = x + stage[choice](x)
        return self.classifier(x)

    def random_path(self):
        return [random.randrange(len(stage)) for stage in self.blocks]


def create_optimizer_supernet(lr, model):
    groups = [
        {'params': [p for n, p in model.named_parameters() if 'meta_layer' not in n and p.dim() > 1], 'weight_decay': 1e-4},
        {'params': [p for n, p in model.named_parameters() if 'meta_layer' not in n and p.dim() == 1], 'weight_decay': 0.},
    ]
    return torch.optim.SGD(groups, momentum=0.9, lr=lr, nesterov=True)
