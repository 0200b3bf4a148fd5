import math
from importlib import import_module

import torch
from torch import nn

import_module("torch.optim.optimizer")._dispatch_sqrt = math.sqrt  # imported by the original; removed from PyTorch
from Adam_mini import Adam_mini  # noqa: E402


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.wte = nn.Embedding(10, 8)
        self.qkv = nn.Linear(8, 12)
        self.attn = nn.ModuleDict({"attn": nn.Linear(12, 12, bias=False)})
        self.out = nn.Linear(12, 10)

    def forward(self, x):
        return self.out(self.attn["attn"](self.qkv(self.wte(x))))


torch.manual_seed(0)
model = Block().cuda()
optimizer = Adam_mini(model, lr=0.01, n_embd=8, n_head=4, n_query_groups=4)
for step in range(3):
    tokens = torch.randint(0, 10, (2, 6)).cuda()
    loss = nn.functional.cross_entropy(model(tokens[:, :-1]).transpose(1, 2), tokens[:, 1:])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
