import torch
import torch.nn as nn


class Forecaster(nn.Module):
    def __init__(self, hidden=8):
        super().__init__()
        self.hidden = hidden
        self.cell = nn.LSTMCell(1, hidden)
        self.linear = nn.Linear(hidden, 1)

    def forward(self, series):
        h = torch.zeros(series.size(0), self.hidden, device=series.device)
        c = torch.zeros_like(h)
        outputs = []
        for value in series.split(1, dim=1):
            h, c = self.cell(value, (h, c))
            outputs.append(self.linear(h))
        return torch.cat(outputs, dim=1)


def waves(n, length=9):
    phase = torch.arange(n).unsqueeze(1) / n * 6.28
    return torch.sin(phase + torch.arange(length) * 0.6)
