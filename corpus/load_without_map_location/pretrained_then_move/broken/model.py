import torch.nn as nn


class Encoder(nn.Module):
    def __init__(self, d=12):
        super().__init__()
        self.proj = nn.Linear(6, d)
        self.norm = nn.LayerNorm(d)

    def forward(self, x):
        return self.norm(self.proj(x)).relu()


class Classifier(nn.Module):
    def __init__(self, encoder, d=12, classes=4):
        super().__init__()
        self.encoder = encoder
        self.head = nn.Linear(d, classes)

    def forward(self, x):
        return self.head(self.encoder(x))
