import torch
from torch import nn


class Cell(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.cell = nn.LSTMCell(3, size)
        self.size = size

    def initial(self, count):
        return torch.zeros(count, self.size).cuda(), torch.zeros(count, self.size).cuda()

    def forward(self, x):
        state = self.initial(x.size(0))
        for step in range(x.size(1)):
            state = self.cell(x[:, step], state)
        return state[0]
