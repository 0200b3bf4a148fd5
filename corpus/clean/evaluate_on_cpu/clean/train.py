import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


def evaluate(model, loader):
    """On the host: the validation volumes would not fit on the card."""
    model.eval()
    model.cpu()
    total = 0.0
    with torch.no_grad():
        for volume, target in loader:
            total += nn.functional.mse_loss(model(volume), target).item()
    return total / len(loader)


def main():
    torch.manual_seed(20)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    volumes = torch.randn(24, 1, 4, 4, 4)
    targets = volumes.mean(dim=(2, 3, 4))
    train_loader = DataLoader(TensorDataset(volumes[:16], targets[:16]), batch_size=8)
    val_loader = DataLoader(TensorDataset(volumes[16:], targets[16:]), batch_size=8)
    model = nn.Sequential(nn.Conv3d(1, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(32, 1))
    model.to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    for epoch in range(3):
        model.to(device)
        model.train()
        for volume, target in train_loader:
            loss = nn.functional.mse_loss(model(volume.to(device)), target.to(device))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            print("train", loss.item())
        print("val", evaluate(model, val_loader))


if __name__ == "__main__":
    main()
