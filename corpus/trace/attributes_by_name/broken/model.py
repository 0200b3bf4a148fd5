import torch
from torch import nn

MAKERS = {"linear": lambda n: torch.arange(n) / n, "square": lambda n: (torch.arange(n) / n) ** 2}


class Tabled(nn.Module):
    def __init__(self, conf, dim=6):
        super().__init__()
        self.names = []
        for name in conf["tables"]:
            setattr(self, "tab_" + name, MAKERS[name](dim))
            self.names.append("tab_" + name)
        self.fc = nn.Linear(dim, 12)
        self.out = nn.Linear(12, conf["classes"])

    def forward(self, x):
        for table in self.names:
            x = x + getattr(self, table)
        return self.out(torch.tanh(self.fc(x)))
