"""Training with running sums that are kept in tensors."""

import torch
from torch import nn, optim
from torch.utils.data import DataLoader, TensorDataset


def evaluate(model, loader, device):
    correct = torch.tensor(0, device=device)
    confusion = torch.zeros(3, 3, dtype=torch.long, device=device)
    with torch.no_grad():
        for x, y in loader:
            x, y = x.to(device), y.to(device)
            pred = model(x).argmax(dim=1)
            correct += (pred == y).sum()
            confusion += torch.bincount(3 * y + pred, minlength=9).view(3, 3)
    return correct.item() / len(loader.dataset), confusion.cpu()


def train_epoch(model, loader, criterion, optimizer, device):
    running = torch.zeros(1, device=device)
    for x, y in loader:
        x, y = x.to(device), y.to(device)
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        running += loss.detach()
    return running.item() / len(loader)


def main():
    torch.manual_seed(7)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    data = TensorDataset(torch.randn(32, 5), torch.randint(0, 3, (32,)))
    loader = DataLoader(data, batch_size=8)
    model = nn.Sequential(nn.Linear(5, 8), nn.Tanh(), nn.Linear(8, 3)).to(device)
    optimizer = optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    criterion = nn.CrossEntropyLoss()
    for epoch in range(3):
        loss = train_epoch(model, loader, criterion, optimizer, device)
        accuracy, confusion = evaluate(model, loader, device)
        print(f"{epoch}: loss {loss:.4f} accuracy {accuracy:.3f} diagonal {confusion.diag().tolist()}")


main()
