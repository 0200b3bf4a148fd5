import copy
import os

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class EarlyStopping:
    def __init__(self, patience=2):
        self.patience, self.bad, self.best = patience, 0, float("inf")

    def step(self, value):
        if value < self.best - 1e-4:
            self.best, self.bad = value, 0
            return True
        self.bad += 1
        return False

    @property
    def should_stop(self):
        return self.bad >= self.patience


class Trainer:
    def __init__(self, model, train_set, valid_set, out_dir, lr=0.1, max_epochs=5):
        self.device = "cuda" if torch.cuda.is_available() else "cpu"
        self.model = model.to(self.device)
        self.train_loader = DataLoader(train_set, batch_size=16, shuffle=True)
        self.valid_loader = DataLoader(valid_set, batch_size=32)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=lr)
        counts = torch.bincount(train_set.tensors[1], minlength=4).float()
        self.criterion = nn.CrossEntropyLoss(weight=counts.sum() / (counts + 1))
        self.stopper = EarlyStopping()
        self.max_epochs = max_epochs
        self.out_dir = out_dir
        os.makedirs(out_dir, exist_ok=True)

    def run_epoch(self):
        self.model.train()
        total = 0.0
        for x, y in self.train_loader:
            x, y = x.to(self.device), y.to(self.device)
            self.optimizer.zero_grad()
            loss = self.criterion(self.model(x), y)
            loss.backward()
            self.optimizer.step()
            total += loss.item() * len(x)
        return total / len(self.train_loader.dataset)

    @torch.no_grad()
    def validate(self):
        self.model.eval()
        total, hits = 0.0, 0
        for x, y in self.valid_loader:
            x, y = x.to(self.device), y.to(self.device)
            logits = self.model(x)
            total += self.criterion(logits, y).item() * len(x)
            hits += int((logits.argmax(1) == y).sum())
        n = len(self.valid_loader.dataset)
        return total / n, hits / n

    def save(self, name, epoch):
        state = {"epoch": epoch, "model": self.model.state_dict(), "optimizer": self.optimizer.state_dict()}
        torch.save(state, os.path.join(self.out_dir, name))

    def fit(self):
        best = None
        for epoch in range(self.max_epochs):
            train_loss = self.run_epoch()
            valid_loss, accuracy = self.validate()
            print(f"[{epoch}] train {train_loss:.4f} valid {valid_loss:.4f} acc {accuracy:.3f}")
            if self.stopper.step(valid_loss):
                best = copy.deepcopy(self.model.state_dict())
                self.save("best.pt", epoch)
            self.save("last.pt", epoch)
            if self.stopper.should_stop:
                break
        self.model.load_state_dict(best)
        return self.stopper.best


def dataset(n, seed):
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n, 5, generator=g)
    y = ((x[:, 0] > 0).long() + 2 * (x[:, 1] > 0.6).long()) % 4
    return TensorDataset(x, y)


if __name__ == "__main__":
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(5, 16), nn.Dropout(0.1), nn.ReLU(), nn.Linear(16, 4))
    trainer = Trainer(net, dataset(64, 1), dataset(32, 2), "runs")
    print("best", round(trainer.fit(), 4))
