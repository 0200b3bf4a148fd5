#!/usr/bin/env python
import argparse
import json
import os

import torch
import torch.nn as nn


def parse():
    p = argparse.ArgumentParser()
    p.add_argument("--accumulate", type=int, default=2)
    p.add_argument("--clip", type=float, default=0.3)
    p.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    p.add_argument("--out", default="out")
    return p.parse_args()


class Regressor(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.GRU(3, 12, batch_first=True)
        self.decoder = nn.Linear(12, 1)

    def forward(self, x):
        return self.decoder(self.encoder(x)[0][:, -1]).squeeze(-1)


def weighted_loss(prediction, target, importance):
    return (importance * (prediction - target) ** 2).sum() / importance.sum()


def main(args):
    torch.manual_seed(99)
    os.makedirs(args.out, exist_ok=True)
    series = torch.randn(48, 6, 3).cumsum(1)
    target = series[:, -1].sum(-1).sin()
    importance = torch.rand(48) + 0.5
    dataset = torch.utils.data.TensorDataset(series[:40], target[:40], importance[:40])
    loader = torch.utils.data.DataLoader(dataset, batch_size=5, shuffle=True, drop_last=True)
    model = Regressor().to(args.device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.5, weight_decay=1e-4)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=0.1, total_steps=8 * 2 // args.accumulate)
    log = open(os.path.join(args.out, "metrics.jsonl"), "w")
    for epoch in range(2):
        for i, (x, y, w) in enumerate(loader):
            x, y = x.to(args.device), y.to(args.device)
            loss = weighted_loss(model(x), y, w) / args.accumulate
            loss.backward()
            if (i + 1) % args.accumulate == 0:
                norm = nn.utils.clip_grad_norm_(model.parameters(), args.clip)
                optimizer.step()
                optimizer.zero_grad()
                schedule.step()
                record = {"epoch": epoch, "i": i, "loss": loss.item(), "norm": norm.item(), "lr": schedule.get_last_lr()[0]}
                log.write(json.dumps(record) + "\n")
    model.eval()
    with torch.no_grad():
        held_out = series[40:].to(args.device)
        error = weighted_loss(model(held_out), target[40:].to(args.device), importance[40:].to(args.device))
    log.write(json.dumps({"held_out": error.item()}) + "\n")
    log.close()


if __name__ == "__main__":
    main(parse())
