import torch.nn as nn


class Model(nn.Module):
    def __init__(self, nc=3, ch=3):
        super(Model, self).__init__()
        self.nc, self.nl, self.grids = nc, 2, (8, 4)
        self.stem = nn.Sequential(nn.Conv2d(ch, 8, 3, 2, 1), nn.SiLU())
        self.down = nn.Sequential(nn.Conv2d(8, 16, 3, 2, 1), nn.SiLU())
        self.m = nn.ModuleList([nn.Conv2d(8, nc + 5, 1), nn.Conv2d(16, nc + 5, 1)])

    def forward(self, x):
        x = self.stem(x)
        out = [self.m[0](x), self.m[1](self.down(x))]
        return [o.flatten(2).transpose(1, 2) for o in out]
