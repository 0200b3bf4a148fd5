import torch
import torch.nn as nn
from tallies import PerClass


class Runner:
    def __init__(self, device):
        self.device = device
        self.model = nn.Sequential(nn.Linear(6, 18), nn.ReLU(), nn.Linear(18, 3)).to(device)
        self.criterion = nn.CrossEntropyLoss()
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=0.02)
        self.tally = PerClass(3)

    def step(self, x, y, count):
        logits = self.model(x)
        loss = self.criterion(logits, y)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        if count:
            hits = (logits.argmax(1) == y).float()
            self.tally.update(hits, y)
        return loss.item()

    def fit(self, steps):
        for i in range(steps):
            x = torch.randn(12, 6)
            y = x[:, :3].argmax(1)
            print(i, self.step(x.to(self.device), y.to(self.device), count=i % 6 == 5))
        print(self.tally.compute())


if __name__ == "__main__":
    torch.manual_seed(41)
    Runner(torch.device("cuda" if torch.cuda.is_available() else "cpu")).fit(12)
