from typing import Optional

import torch
import torch.nn as nn


class MixerBlock(nn.Module):
    def __init__(self, dim: int, tokens: int):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.mlp_tokens = nn.Sequential(nn.Linear(tokens, tokens), nn.GELU())
        self.mlp_channels = nn.Sequential(nn.Linear(dim, dim), nn.GELU())

    def forward(self, x):
        x = x + self.mlp_tokens(self.norm1(x).transpose(1, 2)).transpose(1, 2)
        return x + self.mlp_channels(self.norm2(x))


class TinyMixer(nn.Module):
    def __init__(self, num_classes: int = 10, dim: int = 16, depth: int = 2, global_pool: str = 'avg'):
        super().__init__()
        self.num_classes = num_classes
        self.num_features = self.head_hidden_size = dim
        self.global_pool = global_pool
        self.stem = nn.Conv2d(3, dim, 4, stride=4)
        self.blocks = nn.Sequential(*[MixerBlock(dim, 9) for _ in range(depth)])
        self.norm = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, self.num_classes) if num_classes > 0 else nn.Identity()

    def get_classifier(self) -> nn.Module:
        return self.head

    def reset_classifier(self, num_classes: int, global_pool: Optional[str] = None):
        self.num_classes = num_classes
        if global_pool is not None:
            assert global_pool in ('', 'avg')
            self.global_pool = global_pool
        self.head = nn.Linear(self.head_hidden_size, num_classes) if num_classes > 0 else nn.Identity()

    def forward_features(self, x):
        x = self.stem(x).flatten(2).transpose(1, 2)
        return self.norm(self.blocks(x))

    def forward(self, x):
        x = self.forward_features(x)
        if self.global_pool == 'avg':
            x = x.mean(dim=1)
        return self.head(x)
