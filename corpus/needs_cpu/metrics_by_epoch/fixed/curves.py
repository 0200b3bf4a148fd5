from collections import defaultdict

import numpy as np
import torch
from torch import nn


def accuracy(logits, labels):
    return (logits.argmax(dim=1) == labels).float().mean()


def main():
    torch.manual_seed(5)
    device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
    features = torch.randn(40, 7).to(device)
    labels = torch.randint(0, 4, (40,)).to(device)
    model = nn.Sequential(nn.Linear(7, 14), nn.ReLU(), nn.Linear(14, 4)).to(device)
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    history = {"loss": [], "accuracy": []}
    for start in range(0, 40, 8):
        batch, wanted = features[start : start + 8], labels[start : start + 8]
        logits = model(batch)
        loss = criterion(logits, wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        history["loss"].append(loss.item())
        history["accuracy"].append(accuracy(logits, wanted).item())
        print("loss", history["loss"][-1])
    means = defaultdict(float, {name: np.mean(values) for name, values in history.items()})
    print({name: round(float(value), 4) for name, value in means.items()})


if __name__ == "__main__":
    main()
