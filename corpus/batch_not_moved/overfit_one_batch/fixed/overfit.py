"""Can the network overfit a single batch? If not, something is broken."""
import os

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

local_rank = int(os.environ.get("LOCAL_RANK", 0))
device = local_rank if torch.cuda.is_available() else "cpu"


class Stripes(Dataset):
    def __len__(self):
        return 32

    def __getitem__(self, index):
        g = torch.Generator().manual_seed(index)
        image = 0.2 * torch.randn(1, 8, 8, generator=g)
        label = index % 2
        if label:
            image[:, ::2, :] += 1
        else:
            image[:, :, ::2] += 1
        return image, label


def main(steps=6):
    torch.manual_seed(0)
    loader = DataLoader(Stripes(), batch_size=16, shuffle=True)
    images, labels = next(iter(loader))
    images = images.to(device, non_blocking=True)
    labels = labels.to(device, non_blocking=True)

    net = nn.Sequential(
        nn.Conv2d(1, 4, 3), nn.ReLU(), nn.AdaptiveMaxPool2d(2), nn.Flatten(), nn.Linear(16, 2),
    ).to(device)
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.Adam(net.parameters(), lr=0.02)
    for step in range(steps):
        optimizer.zero_grad()
        loss = criterion(net(images), labels)
        loss.backward()
        optimizer.step()
        print(f"step {step}: {loss.item():.4f}")


if __name__ == "__main__":
    main()
