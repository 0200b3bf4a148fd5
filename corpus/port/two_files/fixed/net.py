import torch
from torch import nn


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.GRU(3, 5, batch_first=True)
        self.head = nn.Linear(5, 1)

    def initial(self, count):
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        return torch.zeros(1, count, 5).to(device)

    def forward(self, x):
        out, _ = self.cell(x, self.initial(x.size(0)))
        return self.head(out[:, -1])
