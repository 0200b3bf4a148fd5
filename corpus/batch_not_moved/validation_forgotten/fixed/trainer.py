import torch
from torch import nn


class Trainer:
    def __init__(self, train_loader, val_loader, n_features, lr=1e-2):
        self.device = torch.device("cuda") if torch.cuda.is_available() else torch.device("cpu")
        self.train_loader = train_loader
        self.val_loader = val_loader
        self.model = nn.Sequential(nn.Linear(n_features, 16), nn.GELU(), nn.Linear(16, 1)).to(self.device)
        self.criterion = nn.SmoothL1Loss()
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=lr)

    def fit(self, max_epochs):
        for epoch in range(max_epochs):
            train_loss = self.train_epoch()
            val_loss = self.validate()
            print(f"[{epoch + 1}/{max_epochs}] train {train_loss:.5f} val {val_loss:.5f}")

    def train_epoch(self):
        self.model.train()
        total = 0.0
        for features, price in self.train_loader:
            features = features.to(self.device)
            price = price.to(self.device)
            pred = self.model(features).squeeze(1)
            loss = self.criterion(pred, price)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            total += loss.item()
        return total / len(self.train_loader)

    @torch.no_grad()
    def validate(self):
        self.model.eval()
        total = 0.0
        for features, price in self.val_loader:
            features = features.to(self.device)
            price = price.to(self.device)
            pred = self.model(features).squeeze(1)
            total += self.criterion(pred, price).item()
        return total / len(self.val_loader)
