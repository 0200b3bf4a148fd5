import logging
import time

import torch
from torch import nn

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s: %(message)s")
logger = logging.getLogger("run")


def read_config(path):
    """Read two levels of `key: value`."""
    config, section = {}, None
    for line in open(path):
        key, _, value = line.strip().partition(":")
        if not key:
            continue
        target = config if not line.startswith(" ") else config[section]
        value = value.strip()
        if not value:
            section = key
            config[key] = {}
        else:
            target[key] = float(value) if "." in value else int(value) if value.isdigit() else value
    return config


def pick(name):
    if name != "auto":
        return torch.device(name)
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


class SmoothedLoss(nn.Module):
    def __init__(self, classes, smoothing):
        super().__init__()
        self.table = torch.full((classes, classes), smoothing / (classes - 1))
        self.table.fill_diagonal_(1 - smoothing)

    def forward(self, logits, target):
        return -(self.table[target] * logits.log_softmax(1)).sum(1).mean()


def build(config):
    layers, width = [], 5
    for _ in range(config["layers"]):
        layers += [nn.Linear(width, config["hidden"]), nn.Mish()]
        width = config["hidden"]
    return nn.Sequential(*layers, nn.Linear(width, 3))


def main():
    config = read_config("config.yaml")
    device = pick(config["device"])
    torch.manual_seed(60)
    model = build(config["model"]).to(device)
    criterion = SmoothedLoss(3, config["train"]["smoothing"])
    optimizer = torch.optim.Adamax(model.parameters(), lr=config["train"]["lr"])
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=config["train"]["epochs"])
    x = torch.randn(45, 5)
    y = x[:, :3].argmax(1)
    started = time.time()
    for epoch in range(config["train"]["epochs"]):
        total = 0.0
        for rows in torch.arange(45).chunk(5):
            loss = criterion(model(x[rows].to(device)), y[rows].to(device))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        scheduler.step()
        logger.info("epoch %d mean loss %.4f lr %.5f", epoch, total / 5, optimizer.param_groups[0]["lr"])
    logger.info("took %.2f s", time.time() - started)
    return model


if __name__ == "__main__":
    main()
