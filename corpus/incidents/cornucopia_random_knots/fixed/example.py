import torch
from torch import nn

import intensity as trf


class UNet(nn.Module):
    def __init__(self, nf=4):
        super().__init__()
        self.down = nn.Conv2d(1, nf, 3, padding=1)
        self.up = nn.Conv2d(nf, 2, 3, padding=1)

    def forward(self, x):
        return self.up(torch.relu(self.down(x)))


if __name__ == '__main__':
    torch.manual_seed(1234)
    device = torch.device('cuda' if torch.cuda.is_available() else 'cpu')
    augment = trf.SequentialTransform([trf.MultiGammaTransform(), trf.SplineUpTransform(prob=0.9)])
    net = UNet().to(device)
    optim = torch.optim.Adam(net.parameters(), 1e-2)
    for n in range(4):
        vol = torch.rand(1, 10, 10)
        lab = (vol[0] > 0.5).long()
        vol, lab = vol.to(device), lab.to(device)
        aug = augment(vol)
        loss = nn.functional.cross_entropy(net(aug[None]), lab[None])
        optim.zero_grad()
        loss.backward()
        optim.step()
        print(n, loss.item())
