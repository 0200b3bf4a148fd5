import torch.nn as nn


class MixerBlock(nn.Module):
    def __init__(self, dim, tokens):
        super().__init__()
        self.norm1 = nn.LayerNorm(dim)
        self.mlp_tokens = nn.Linear(tokens, tokens)
        self.norm2 = nn.LayerNorm(dim)
        self.mlp_channels = nn.Linear(dim, dim)

    def forward(self, x):
        x = x + self.mlp_tokens(self.norm1(x).transpose(1, 2)).transpose(1, 2)
        return x + self.mlp_channels(self.norm2(x))


class TinyMixer(nn.Module):
    def __init__(self, dim, tokens, num_classes=1000):
        super().__init__()
        self.num_features = dim
        self.num_classes = num_classes
        self.blocks = nn.Sequential(*[MixerBlock(dim, tokens) for _ in range(2)])
        self.norm = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, num_classes)

    def reset_classifier(self, num_classes):
        self.num_classes = num_classes
        self.head = nn.Linear(self.num_features, num_classes) if num_classes > 0 else nn.Identity()

    def forward(self, x):
        x = self.norm(self.blocks(x))
        return self.head(x.mean(dim=1))
