import torch
import torch.nn.functional as F
from torch import nn


class PerLabel:
    """How many digits of each label were there, and how many of them were read."""

    def __init__(self, labels):
        self.labels = labels
        self.hits = torch.zeros(labels)

    def count(self, scores, target):
        right = scores.argmax(dim=1) == target
        for label in range(self.labels):
            self.hits[label] += (right & (target == label)).sum()


def main():
    torch.manual_seed(5)
    use_cuda = torch.cuda.is_available()
    device = torch.device("cuda" if use_cuda else "cpu")
    digits = torch.randn(40, 12)
    labels = torch.randint(0, 4, (40,))
    net = nn.Sequential(nn.Linear(12, 16), nn.ReLU(), nn.Linear(16, 4)).to(device)
    optimizer = torch.optim.Adam(net.parameters(), lr=0.02)
    for epoch in range(2):
        per_label = PerLabel(4)
        for start in range(0, 40, 10):
            data = digits[start : start + 10].to(device)
            target = labels[start : start + 10].to(device)
            optimizer.zero_grad()
            scores = net(data)
            loss = F.cross_entropy(scores, target)
            loss.backward()
            optimizer.step()
            with torch.no_grad():
                per_label.count(scores, target)
        print("epoch", epoch, "loss", round(loss.item(), 5), "hits", per_label.hits.tolist())


if __name__ == "__main__":
    main()
