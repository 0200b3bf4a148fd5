import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import torch
from torch import nn
from torch.nn import functional as F

from projects.deta.assigner import Stage1Assigner, box_iou


class Proposals(nn.Module):
    def __init__(self, dim=12, num=10):
        super().__init__()
        self.queries = nn.Parameter(torch.randn(num, dim) * 0.1)
        self.anchors = nn.Parameter(torch.rand(num, 2) * 0.6, requires_grad=False)
        self.box = nn.Linear(dim, 4)
        self.mem = nn.Linear(3, dim)

    def forward(self, feats):
        hidden = torch.relu(self.queries + self.mem(feats)[:, None])
        delta = self.box(hidden).sigmoid() * 0.4
        start = self.anchors + delta[..., :2] * 0.1
        return {"pred_boxes": torch.cat([start, start + delta[..., 2:] + 0.05], -1)}


def boxes_of(n):
    start = torch.rand(n, 2) * 0.6
    return torch.cat([start, start + 0.1 + torch.rand(n, 2) * 0.3], dim=-1)


class Criterion(nn.Module):
    def __init__(self, assigner):
        super().__init__()
        self.assigner = assigner

    def forward(self, outputs, targets):
        total = 0.0
        for boxes, target, (src, dst) in zip(outputs["pred_boxes"], targets, self.assigner(outputs, targets)):
            matched = target["boxes"][dst]
            iou = torch.diagonal(box_iou(boxes[src], matched))
            total = total + F.l1_loss(boxes[src], matched) + (1 - iou).mean()
        return total / len(targets)


def do_train(device, max_iter=4):
    model = Proposals().to(device)
    criterion = Criterion(Stage1Assigner(t_low=0.05, t_high=0.2, max_k=3)).to(device)
    optim = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=1e-2)
    for iteration in range(max_iter):
        feats = torch.randn(2, 3).to(device)
        targets = [{"boxes": boxes_of(n).to(device)} for n in (3, 2)]
        loss = criterion(model(feats), targets)
        optim.zero_grad()
        loss.backward()
        optim.step()
        print(iteration, loss.item())


if __name__ == "__main__":
    torch.manual_seed(40)
    do_train("cuda" if torch.cuda.is_available() else "cpu")
