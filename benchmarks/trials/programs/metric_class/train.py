import sys

import torch
from metrics import ConfusionMatrix, Mean
from torch import nn

CLASSES = 3


def data(n, seed):
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(n, 7, generator=generator)
    return x, (x[:, :CLASSES] + 0.3 * torch.randn(n, CLASSES, generator=generator)).argmax(1)


def loop(model, x, y, device, optimizer=None):
    confusion, mean = ConfusionMatrix(CLASSES), Mean()
    model.train(optimizer is not None)
    with torch.set_grad_enabled(optimizer is not None):
        for rows in torch.arange(len(x)).split(12):
            inputs, target = x[rows].to(device), y[rows].to(device)
            logits = model(inputs)
            loss = nn.functional.cross_entropy(logits, target, label_smoothing=0.1)
            if optimizer is not None:
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            mean.update(loss.item(), len(inputs))
            confusion.update(logits.argmax(1), target)
    return {"loss": mean.compute(), **confusion.compute()}


def show(name, result):
    print(name.ljust(6), " ".join(f"{key}={value:.4f}" for key, value in result.items()), file=sys.stderr)


def main():
    torch.manual_seed(4)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = nn.Sequential(nn.Linear(7, 20), nn.BatchNorm1d(20), nn.ReLU(), nn.Dropout(0.2), nn.Linear(20, CLASSES))
    model.to(device)
    optimizer = torch.optim.Adagrad(model.parameters(), lr=0.05)
    for _ in range(3):
        show("train", loop(model, *data(60, 0), device, optimizer))
        show("valid", loop(model, *data(36, 1), device))
    show("test", loop(model, *data(48, 2), device))


if __name__ == "__main__":
    main()
