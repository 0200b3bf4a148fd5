import argparse

import torch
from torch import nn

from perceptual import PerceptualLoss


def get_args():
    p = argparse.ArgumentParser()
    p.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    p.add_argument("--steps", type=int, default=4)
    return p.parse_args()


def main():
    args = get_args()
    torch.manual_seed(21)
    net = nn.Sequential(nn.Conv2d(1, 4, 3, padding=1), nn.ReLU(), nn.Conv2d(4, 1, 3, padding=1))
    net.to(args.device)
    content = PerceptualLoss(layers=2)
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    for step in range(args.steps):
        clean = torch.rand(2, 1, 12, 12)
        noisy = (clean + 0.1 * torch.randn(2, 1, 12, 12)).to(args.device)
        clean = clean.to(args.device)
        restored = net(noisy)
        loss = nn.functional.l1_loss(restored, clean) + 0.1 * content(restored, clean)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(step, loss.item())


if __name__ == "__main__":
    main()
