import json
import os
import sys

import torch
import torch.nn as nn
import torch.nn.functional as F


def dataset():
    generator = torch.Generator().manual_seed(1)
    points = torch.randn(80, 2, generator=generator)
    return points, (points[:, 0] * points[:, 1] > 0).long()


def train(model, points, labels, device):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    losses = []
    for step in range(8):
        rows = slice(step * 10, step * 10 + 10)
        optimizer.zero_grad()
        loss = F.cross_entropy(model(points[rows].to(device)), labels[rows])
        loss.backward()
        optimizer.step()
        losses.append(round(loss.item(), 4))
    return losses


def main():
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    points, labels = dataset()
    model = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 2)).to(device)
    losses = train(model, points, labels, device)
    with torch.no_grad():
        correct = (model(points.to(device)).argmax(1).cpu() == labels).sum().item()
    print("losses", losses)
    print("correct", correct)
    with open("result.json", "w") as file:
        json.dump({"correct": correct, "losses": losses}, file)


if __name__ == "__main__":
    main()
