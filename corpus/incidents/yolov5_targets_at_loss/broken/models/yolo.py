import torch.nn as nn


class DetectionModel(nn.Module):
    def __init__(self, nc=3, grid=4):
        super().__init__()
        self.nc, self.grid = nc, grid
        self.model = nn.Sequential(nn.Conv2d(3, 8, 3, 2, 1), nn.SiLU(), nn.Conv2d(8, 5 + nc, 3, 2, 1))

    def forward(self, x):
        return self.model(x).permute(0, 2, 3, 1).contiguous()
