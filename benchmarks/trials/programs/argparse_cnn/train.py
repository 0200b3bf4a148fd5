"""Train a small CNN with batch normalization on generated images."""
import argparse
import sys

import torch
import torch.nn.functional as F
from torch import nn, optim
from torch.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.conv1 = nn.Conv2d(1, width, 3, padding=1)
        self.bn = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width * 2, 3, stride=2)
        self.drop = nn.Dropout(0.25)
        self.fc = nn.Linear(width * 2, 3)

    def forward(self, x):
        x = F.relu(self.bn(self.conv1(x)))
        x = F.relu(self.conv2(x)).mean((2, 3))
        return F.log_softmax(self.fc(self.drop(x)), dim=1)


def make_data(n, generator):
    labels = torch.randint(0, 3, (n,), generator=generator)
    images = torch.randn(n, 1, 8, 8, generator=generator) * 0.5
    for row, label in enumerate(labels.tolist()):
        images[row, 0, label * 2 : label * 2 + 3] += 1.0
    return TensorDataset(images, labels)


def train(args, model, device, loader, optimizer, epoch):
    model.train()
    for batch_idx, (data, target) in enumerate(loader):
        data, target = data.to(device), target.to(device)
        optimizer.zero_grad()
        loss = F.nll_loss(model(data), target)
        loss.backward()
        optimizer.step()
        if batch_idx % args.log_interval == 0:
            print(f"Train Epoch: {epoch} [{batch_idx * len(data)}/{len(loader.dataset)}]\tLoss: {loss.item():.6f}")


def test(model, device, loader):
    model.eval()
    test_loss, correct = 0.0, 0
    with torch.no_grad():
        for data, target in loader:
            output = model(data)
            test_loss += F.nll_loss(output, target, reduction="sum").item()
            pred = output.argmax(dim=1, keepdim=True)
            correct += pred.eq(target.view_as(pred)).sum().item()
    test_loss /= len(loader.dataset)
    print(f"Test set: Average loss: {test_loss:.4f}, Accuracy: {correct}/{len(loader.dataset)}")
    return correct


def main(argv=None):
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--lr", type=float, default=0.02)
    parser.add_argument("--no-cuda", action="store_true")
    parser.add_argument("--log-interval", type=int, default=2)
    parser.add_argument("--save-model", action="store_true")
    args = parser.parse_args(argv)
    use_cuda = not args.no_cuda and torch.cuda.is_available()
    torch.manual_seed(1)
    device = torch.device("cuda" if use_cuda else "cpu")
    generator = torch.Generator().manual_seed(7)
    train_loader = DataLoader(make_data(64, generator), batch_size=16, shuffle=True)
    test_loader = DataLoader(make_data(32, generator), batch_size=16)
    model = Net(4).to(device)
    optimizer = optim.SGD(model.parameters(), lr=args.lr, momentum=0.9)
    for epoch in range(1, args.epochs + 1):
        train(args, model, device, train_loader, optimizer, epoch)
        test(model, device, test_loader)
    if args.save_model:
        torch.save(model.state_dict(), "cnn.pt")
    return 0


if __name__ == "__main__":
    sys.exit(main())
