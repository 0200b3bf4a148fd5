import argparse

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split


def build(args):
    x = torch.linspace(0, 1, 60).reshape(20, 3)
    y = x @ torch.tensor([[1.0], [-2.0], [0.5]])
    train, test = random_split(TensorDataset(x, y), [16, 4], generator=torch.Generator().manual_seed(args.seed))
    return DataLoader(train, batch_size=4), DataLoader(test, batch_size=4)


def main(args):
    torch.set_default_device(args.device)
    train, test = build(args)
    model = nn.Linear(3, 1)
    nn.init.constant_(model.weight, 0.1)
    nn.init.zeros_(model.bias)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.2)
    for epoch in range(args.epochs):
        for x, y in train:
            loss = nn.functional.mse_loss(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            print(f"epoch {epoch} loss {loss.item():.6f}")
    for x, y in test:
        print(f"test {nn.functional.mse_loss(model(x), y).item():.6f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--seed", type=int, default=42)
    main(parser.parse_args())
