from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional as F


@dataclass(frozen=True)
class Config:
    temperature: float = 3.0
    alpha: float = 0.7
    lr: float = 1e-2
    steps: int = 8
    device: str = "cuda:0" if torch.cuda.is_available() else "cpu"


def mlp(width, dropout=0.0):
    return nn.Sequential(nn.Linear(6, width), nn.ReLU(), nn.Dropout(dropout), nn.Linear(width, 4))


def kd_loss(student, teacher, labels, config):
    soft = F.kl_div(
        F.log_softmax(student / config.temperature, 1),
        F.softmax(teacher / config.temperature, 1),
        reduction="batchmean",
    )
    return config.alpha * config.temperature**2 * soft + (1 - config.alpha) * F.cross_entropy(student, labels)


def distill(config):
    torch.manual_seed(40)
    teacher = mlp(48, dropout=0.5).eval()
    student = mlp(8).to(config.device)
    optimizer = torch.optim.NAdam(student.parameters(), lr=config.lr)
    for step in range(config.steps):
        x = torch.randn(20, 6).to(config.device)
        labels = x[:, :4].argmax(1)
        with torch.no_grad():
            target = teacher(x)
        loss = kd_loss(student(x), target, labels, config)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(step, loss.item())
    return teacher, student


def agreement(teacher, student, config, n=50):
    x = torch.randn(n, 6, device=config.device)
    with torch.no_grad():
        return (teacher(x).argmax(1) == student(x).argmax(1)).float().mean().item()


if __name__ == "__main__":
    configuration = Config()
    networks = distill(configuration)
    print("agreement", agreement(*networks, configuration))
