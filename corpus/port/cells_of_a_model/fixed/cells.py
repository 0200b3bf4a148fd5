import torch
from torch import nn


class Cell(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.cell = nn.LSTMCell(3, size)
        self.size = size

    def initial(self, count):
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        return torch.zeros(count, self.size).to(device), torch.zeros(count, self.size).to(device)

    def forward(self, x):
        state = self.initial(x.size(0))
        for step in range(x.size(1)):
            state = self.cell(x[:, step], state)
        return state[0]
