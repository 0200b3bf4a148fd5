import json
import statistics
import sys

import torch
from torch import nn


class Stump(nn.Module):
    """Soft decision stumps with a learned threshold for each feature."""

    def __init__(self, features):
        super().__init__()
        self.threshold = nn.Parameter(torch.zeros(features))
        self.vote = nn.Linear(features, 1)
        self.register_buffer("seen", torch.tensor(0))

    def forward(self, x):
        if self.training:
            self.seen += len(x)
        return self.vote(torch.sigmoid(4 * (x - self.threshold))).squeeze(1)


def folds(n, k):
    order = torch.randperm(n, generator=torch.Generator().manual_seed(0))
    for i in range(k):
        held = torch.zeros(n, dtype=torch.bool)
        held[order[i::k]] = True
        yield ~held, held


def auc(scores, labels):
    order = scores.argsort()
    ranks = torch.empty(len(order), dtype=torch.long)
    ranks.scatter_(0, order, torch.arange(1, len(order) + 1))
    positive = labels.bool()
    p = positive.sum().item()
    return (ranks[positive].sum().item() - p * (p + 1) / 2) / (p * (len(labels) - p))


def run(x, y, k=3):
    results = []
    for number, (inside, outside) in enumerate(folds(len(x), k)):
        torch.manual_seed(number)
        model = Stump(x.shape[1]).to(x.device)
        optimizer = torch.optim.ASGD(model.parameters(), lr=0.3)
        for _ in range(4):
            loss = nn.functional.binary_cross_entropy_with_logits(model(x[inside]), y[inside])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            score = auc(model(x[outside]), y[outside])
        print(f"fold {number}: auc {score:.3f}", file=sys.stderr)
        results.append({"fold": number, "auc": score, "seen": model.seen.item()})
    return results


def main():
    device = torch.device("cuda") if torch.cuda.is_available() else torch.device("cpu")
    g = torch.Generator().manual_seed(33)
    x = torch.randn(60, 4, generator=g)
    y = (x[:, 1] + 0.5 * torch.randn(60, generator=g) > 0).float()
    results = run(x.to(device), y.to(device))
    scores = [r["auc"] for r in results]
    summary = {"mean": statistics.mean(scores), "std": statistics.stdev(scores), "folds": results}
    with open("cv.json", "w") as file:
        json.dump(summary, file, indent=1)
    print(f"auc {summary['mean']:.3f} +- {summary['std']:.3f}")


if __name__ == "__main__":
    main()
