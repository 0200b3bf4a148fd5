"""A detector's loss that gathers its targets image by image."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class ComputeLoss:
    def __init__(self, model, n_classes):
        self.device = next(model.parameters()).device
        self.n_classes = n_classes

    def build_targets(self, preds, targets):
        owners, wanted, gains = [], [], []
        for i in range(preds.shape[0]):
            b = targets[targets[:, 0] == i]
            owners.append(torch.ones(size=(len(b),)) * i)
            wanted.append(b[:, 1].long())
            gains.append(torch.linspace(1.0, 0.5, len(b), device=preds.device))
        return torch.cat(owners).long(), torch.cat(wanted), torch.cat(gains)

    def __call__(self, preds, targets):
        owner, cls, gain = self.build_targets(preds, targets)
        rows = preds[owner]
        loss = F.cross_entropy(rows, cls, reduction="none")
        return (loss * gain).mean()


def train(hyp, device):
    torch.manual_seed(hyp["seed"])
    model = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, hyp["classes"])).to(device)
    compute_loss = ComputeLoss(model, hyp["classes"])
    optimizer = torch.optim.SGD(model.parameters(), lr=hyp["lr0"], momentum=0.9)
    for i in range(hyp["steps"]):
        imgs = torch.randn(4, 6).to(device)
        targets = torch.tensor([[0, 1], [0, 2], [1, 0], [3, 2]]).to(device)
        loss = compute_loss(model(imgs), targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"{i}: {loss.item():.5f}")


if __name__ == "__main__":
    train(
        {"seed": 2, "classes": 3, "lr0": 0.05, "steps": 4},
        torch.device("cuda:0" if torch.cuda.is_available() else "cpu"),
    )
