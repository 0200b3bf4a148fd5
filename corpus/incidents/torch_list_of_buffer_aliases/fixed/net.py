import torch
import torch.nn as nn


class MultiScale(nn.Module):
    """Blurs its input at several scales with fixed kernels and learns how to mix them."""

    def __init__(self, scales=(1, 2, 3)):
        super().__init__()
        self.scales = scales
        self.kernels = []
        for i, s in enumerate(scales):
            x = torch.arange(-3, 4, dtype=torch.float)
            k = torch.exp(-x ** 2 / (2 * s * s))
            k = (k / k.sum()).view(1, 1, -1)
            self.register_buffer('kernel_%d' % i, k)
            self.kernels.append(getattr(self, 'kernel_%d' % i))
        self.mix = nn.Linear(len(scales), 1)

    def forward(self, signal):
        blurred = []
        for i in range(len(self.scales)):
            blurred.append(nn.functional.conv1d(signal, getattr(self, 'kernel_%d' % i), padding=3))
        return self.mix(torch.stack(blurred, dim=-1)).squeeze(-1)


if __name__ == '__main__':
    torch.manual_seed(0)
    dev = torch.device('cuda:0' if torch.cuda.is_available() else 'cpu')
    net = MultiScale()
    net = net.to(dev)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    clean = torch.sin(torch.linspace(0, 12, 64)).view(1, 1, -1).to(dev)
    for epoch in range(4):
        noisy = clean + 0.3 * torch.randn(1, 1, 64).to(dev)
        loss = (net(noisy) - clean).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        print('%d %.5f' % (epoch, loss.item()))
