import torch
from torch import nn


class AttentionBlock(nn.Module):
    def __init__(self, channels):
        super(AttentionBlock, self).__init__()
        self.block = nn.Sequential(nn.Conv2d(2 * channels, channels, 1, bias=False), nn.BatchNorm2d(channels), nn.ReLU(), nn.Conv2d(channels, 1, 1))

    def forward(self, high, low):
        return torch.sigmoid(self.block(torch.cat((high, low), 1))) * high + low


class BDRAR(nn.Module):
    def __init__(self):
        super(BDRAR, self).__init__()
        self.low = nn.Sequential(nn.Conv2d(3, 6, 3, padding=1), nn.ReLU())
        self.high = nn.Sequential(nn.Conv2d(6, 6, 3, padding=2, dilation=2), nn.ReLU())
        self.refine = AttentionBlock(6)
        self.predict = nn.Conv2d(6, 1, 1)

    def forward(self, x):
        low = self.low(x)
        high = self.high(low)
        return self.predict(self.refine(high, low)), self.predict(high)
