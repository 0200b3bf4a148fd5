import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


def train(model, loader, optimizer, criterion, device):
    model.train()
    for x, y in loader:
        x, y = x.to(device), y.to(device)
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        print("train", loss.item())


def validate(model, loader, criterion):
    model.eval()
    total, correct = 0.0, 0
    with torch.no_grad():
        for x, y in loader:
            x = x.to(next(model.parameters()).device)
            y = y.to(next(model.parameters()).device)
            out = model(x)
            total += criterion(out, y).item()
            correct += (out.argmax(1) == y).sum().item()
    return total / len(loader), correct


def main():
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    X, Y = torch.randn(24, 5), torch.randint(0, 2, (24,))
    train_loader = DataLoader(TensorDataset(X, Y), batch_size=8)
    val_loader = DataLoader(TensorDataset(X, Y), batch_size=8)
    model = nn.Linear(5, 2).to(device)
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    crit = nn.CrossEntropyLoss()
    for _ in range(2):
        train(model, train_loader, opt, crit, device)
        print(validate(model, val_loader, crit))


if __name__ == "__main__":
    main()
