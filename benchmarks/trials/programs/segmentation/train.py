import os
import sys
import time

import torch
import torch.nn as nn
import torch.nn.functional as F


class ProgressBar:
    """Like tqdm: one line on stderr that is rewritten, with a rate."""

    def __init__(self, items, label):
        self.items, self.label, self.note = items, label, ""

    def __iter__(self):
        began = time.time()
        for i, item in enumerate(self.items, 1):
            yield item
            rate = i / max(time.time() - began, 1e-9)
            sys.stderr.write(f"\r{self.label}: {i}/{len(self.items)} [{rate:.1f}it/s] {self.note}")
        sys.stderr.write("\n")


class TinyUNet(nn.Module):
    def __init__(self, width=4):
        super().__init__()
        self.down = nn.Sequential(nn.Conv2d(1, width, 3, padding=1), nn.GroupNorm(2, width), nn.ReLU())
        self.middle = nn.Conv2d(width, width * 2, 3, stride=2, padding=1)
        self.up = nn.ConvTranspose2d(width * 2, width, 2, stride=2)
        self.out = nn.Conv2d(width * 2, 1, 1)
        blur = torch.ones(1, 1, 3, 3) / 9
        self.blur = blur

    def forward(self, x):
        skip = self.down(x)
        deep = self.up(F.relu(self.middle(skip)))
        return F.conv2d(self.out(torch.cat([skip, deep], 1)), self.blur, padding=1)


def dice(logits, mask, smooth=1.0):
    p = torch.sigmoid(logits)
    return (2 * (p * mask).sum() + smooth) / (p.sum() + mask.sum() + smooth)


def circles(n, size=8, seed=0):
    g = torch.Generator().manual_seed(seed)
    grid = torch.stack(torch.meshgrid(torch.arange(size), torch.arange(size), indexing="ij"))
    centers = torch.randint(2, size - 2, (n, 2, 1, 1), generator=g)
    masks = (((grid - centers) ** 2).sum(1, keepdim=True) <= 4).float()
    return masks + 0.4 * torch.randn(n, 1, size, size, generator=g), masks


def main():
    torch.manual_seed(19)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model = TinyUNet().to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, mode="max", factor=0.5, patience=0)
    images, masks = circles(24)
    test_images, test_masks = circles(12, seed=1)
    batches = list(zip(images.split(6), masks.split(6)))
    best = -1.0
    os.makedirs("weights", exist_ok=True)
    for epoch in range(3):
        bar = ProgressBar(batches, f"epoch {epoch}")
        model.train()
        for image, mask in bar:
            image, mask = image.to(device), mask.to(device)
            logits = model(image)
            loss = F.binary_cross_entropy_with_logits(logits, mask) + 1 - dice(logits, mask)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            bar.note = f"loss={loss.item():.4f}"
        model.eval()
        with torch.no_grad():
            score = dice(model(test_images.to(device)), test_masks.to(device)).item()
        scheduler.step(score)
        print(f"dice {score:.4f} lr {optimizer.param_groups[0]['lr']:.4f}")
        torch.save(model.state_dict(), "weights/last.pth")
        if score > best:
            best = score
            torch.save(model.state_dict(), "weights/best.pth")


if __name__ == "__main__":
    main()
