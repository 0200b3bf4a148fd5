import json

import torch
from torch import nn

from adapters import inject

RECIPE = """{"match": "blocks.[0-9]+.(fc|proj)", "kind": "Adapter", "options": {"rank": 2}}"""


class Block(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.fc, self.proj = nn.Linear(dim, 2 * dim), nn.Linear(2 * dim, dim)

    def forward(self, x):
        return x + self.proj(self.fc(x).relu())


class Model(nn.Module):
    def __init__(self, dim=6, depth=2):
        super().__init__()
        self.blocks = nn.ModuleList(Block(dim) for _ in range(depth))

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x


if __name__ == "__main__":
    torch.manual_seed(81)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = Model().to(device)
    trainable = inject(model, json.loads(RECIPE))
    optimizer = torch.optim.AdamW(trainable, lr=1e-2)
    for step in range(5):
        x = torch.randn(8, 6).to(device)
        loss = nn.functional.mse_loss(model(x), x.flip(1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"step {step}: {loss.item():.5f}")
