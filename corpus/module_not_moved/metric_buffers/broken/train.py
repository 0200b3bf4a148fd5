import torch
import torch.nn.functional as F
from torch import nn


class RunningMean(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("total", torch.zeros(2))
        self.register_buffer("count", torch.zeros(2))

    def update(self, values):
        self.total += values
        self.count += 1

    def compute(self):
        return self.total / self.count


def train_loop(model, loader, optimizer, device):
    metric = RunningMean()
    class_weight = torch.tensor([1.0, 2.0, 0.5])
    for features, target in loader:
        features, target = features.to(device), target.to(device)
        logits = model(features)
        loss = F.cross_entropy(logits, target, weight=class_weight)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        hit = (logits.argmax(1) == target).float().mean()
        metric.update(torch.stack([loss.detach(), hit]))
        print(loss.item())
    return metric.compute()


torch.manual_seed(2)
dev = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = nn.Sequential(nn.Linear(4, 9), nn.ReLU(), nn.Linear(9, 3)).to(dev)
sgd = torch.optim.SGD(net.parameters(), lr=0.2)
batches = [(torch.randn(6, 4), torch.randint(0, 3, (6,))) for _ in range(5)]
print(train_loop(net, batches, sgd, dev).tolist())
