import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Prefetcher:
    def __init__(self, loader, device):
        self.loader = loader
        self.device = device

    def __len__(self):
        return len(self.loader)

    def __iter__(self):
        ahead = None
        for images, targets in self.loader:
            current = ahead
            ahead = (images.to(self.device, non_blocking=True), targets.to(self.device, non_blocking=True))
            if current is not None:
                yield current
        if ahead is not None:
            yield ahead


def main():
    torch.manual_seed(1)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    data = TensorDataset(torch.randn(40, 3, 4, 4), torch.randint(0, 3, (40,)))
    loader = Prefetcher(DataLoader(data, batch_size=10, shuffle=True), device)
    model = nn.Sequential(nn.Flatten(), nn.Linear(48, 3)).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for i, (images, targets) in enumerate(loader):
        loss = nn.functional.cross_entropy(model(images), targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"{i + 1}/{len(loader)} {loss.item():.5f}")


if __name__ == "__main__":
    main()
