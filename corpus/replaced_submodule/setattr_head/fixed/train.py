import argparse
import collections

import torch
import torch.nn as nn
import torch.nn.functional as F

HEADS = {"slim": "fc", "wide": "classifier"}


class Slim(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(2, 8, 3, padding=1)
        self.fc = nn.Linear(8, 100)

    def forward(self, x):
        return self.fc(F.relu(self.conv(x)).mean(-1))


class Wide(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(2, 24, 5, padding=2)
        self.classifier = nn.Linear(24, 100)

    def forward(self, x):
        return self.classifier(F.relu(self.conv(x)).amax(-1))


ARCHS = {"slim": Slim, "wide": Wide}


def create_model(arch, num_classes, device):
    net = ARCHS[arch]()
    net.to(device)
    head = getattr(net, HEADS[arch])
    setattr(net, HEADS[arch], nn.Linear(head.in_features, num_classes, bias=head.bias is not None))
    net.to(device)
    return net


def signals(n, seed):
    g = torch.Generator().manual_seed(seed)
    kind = torch.randint(0, 3, (n,), generator=g)
    t = torch.linspace(0, 6.28, 20)
    waves = torch.stack([torch.sin(t), torch.sign(torch.sin(2 * t)), torch.cos(3 * t)])
    x = waves[kind].unsqueeze(1).repeat(1, 2, 1) + 0.3 * torch.randn(n, 2, 20, generator=g)
    return x, kind


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--arch", choices=sorted(ARCHS), default="slim")
    ap.add_argument("--iters", type=int, default=6)
    opt = ap.parse_args()
    torch.manual_seed(21)
    device = "cuda:0" if torch.cuda.is_available() else "cpu"
    net = create_model(opt.arch, 3, device)
    sgd = torch.optim.SGD(net.parameters(), lr=0.1, nesterov=True, momentum=0.9)
    history = collections.deque(maxlen=3)
    for it in range(opt.iters):
        x, kind = signals(16, seed=it)
        loss = F.cross_entropy(net(x.to(device)), kind.to(device))
        sgd.zero_grad()
        loss.backward()
        sgd.step()
        history.append(loss.item())
        print(f"{it:3d}  loss {loss.item():.5f}  smoothed {sum(history) / len(history):.5f}")
