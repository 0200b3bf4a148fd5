import copy

import torch
import torch.nn as nn
import torch.nn.functional as F


class MoCo(nn.Module):
    def __init__(self, dim=6, size=32, momentum=0.9, temperature=0.2):
        super().__init__()
        self.query = nn.Sequential(nn.Linear(8, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, dim))
        self.key = copy.deepcopy(self.query).requires_grad_(False)
        self.momentum, self.temperature = momentum, temperature
        self.queue = F.normalize(torch.randn(size, dim), dim=1)
        self.pointer = 0

    @torch.no_grad()
    def update_key(self):
        for q, k in zip(self.query.parameters(), self.key.parameters()):
            k.mul_(self.momentum).add_(q, alpha=1 - self.momentum)

    @torch.no_grad()
    def enqueue(self, keys):
        end = self.pointer + len(keys)
        self.queue[self.pointer : end] = keys
        self.pointer = end % len(self.queue)

    def forward(self, one, two):
        q = F.normalize(self.query(one), dim=1)
        with torch.no_grad():
            self.update_key()
            k = F.normalize(self.key(two), dim=1)
        positive = (q * k).sum(1, keepdim=True)
        negative = q @ self.queue.clone().t()
        logits = torch.cat([positive, negative], 1) / self.temperature
        self.enqueue(k)
        return logits, torch.zeros(len(q), dtype=torch.long)


def augment(x):
    return x + 0.1 * torch.randn(x.shape)


def main():
    torch.manual_seed(9)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = MoCo().to(device)
    optimizer = torch.optim.SGD(model.query.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-4)
    images = torch.randn(32, 8)
    for epoch in range(2):
        hits = 0
        for batch in images.split(8):
            logits, target = model(augment(batch).to(device), augment(batch).to(device))
            loss = F.cross_entropy(logits, target)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            hits += (logits.argmax(1) == target).sum().item()
        print("epoch %d top1 %.3f loss %.4f" % (epoch, hits / 32, loss.item()))
    torch.save({"query": model.query.state_dict(), "key": model.key.state_dict(), "queue": model.queue}, "moco.pt")


if __name__ == "__main__":
    main()
