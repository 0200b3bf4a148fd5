"""Multi-task learning: what is it (class) and how big is it (regression)."""
import torch
from torch import nn
from torch.nn import functional as F


class TwoHeads(nn.Module):
    def __init__(self, dim=16, n_cls=80, n_reg=4):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(10, dim), nn.ReLU(), nn.Linear(dim, dim), nn.ReLU())
        self.cls_head = nn.Linear(dim, n_cls)
        self.reg_head = nn.Linear(dim, n_reg)

    def forward(self, x):
        h = self.trunk(x)
        return {"cls": self.cls_head(h), "reg": self.reg_head(h)}


def pick_device(preferred=None):
    if preferred is not None:
        return torch.device(preferred)
    if torch.cuda.is_available():
        return torch.device("cuda", 0)
    if torch.backends.mps.is_available():
        return torch.device("mps")
    return torch.device("cpu")


def compute_loss(out, targets, reg_weight=0.5):
    return F.cross_entropy(out["cls"], targets["cls"]) + reg_weight * F.l1_loss(out["reg"], targets["reg"])


def run():
    torch.manual_seed(77)
    dev = pick_device()
    net = TwoHeads()
    net = net.to(dev)
    dim = net.cls_head.in_features
    net.cls_head, net.reg_head = nn.Linear(dim, 5), nn.Linear(dim, 1)

    groups = [
        {"params": net.trunk.parameters(), "lr": 1e-3},
        {"params": list(net.cls_head.parameters()) + list(net.reg_head.parameters()), "lr": 1e-2},
    ]
    optim = torch.optim.Adam(groups)

    for step in range(5):
        x = torch.rand(12, 10)
        targets = {"cls": torch.randint(0, 5, (12,)), "reg": x.norm(dim=1, keepdim=True)}
        targets = {k: v.to(dev) for k, v in targets.items()}
        loss = compute_loss(net(x.to(dev)), targets)
        optim.zero_grad()
        loss.backward()
        optim.step()
        print("step", step, "loss", f"{loss.item():.6f}")


run()
