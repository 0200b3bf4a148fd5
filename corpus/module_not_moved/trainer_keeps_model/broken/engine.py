import torch
from torch import nn


class Trainer:
    def __init__(self, model, lr, device=None):
        self.device = device or torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self.model = model
        self.criterion = nn.CrossEntropyLoss()
        self.optimizer = torch.optim.Adagrad(self.model.parameters(), lr=lr)

    def _step(self, x, y):
        x, y = x.to(self.device), y.to(self.device)
        self.optimizer.zero_grad()
        loss = self.criterion(self.model(x), y)
        loss.backward()
        self.optimizer.step()
        return loss.item()

    def fit(self, batches, epochs):
        for epoch in range(epochs):
            losses = [self._step(x, y) for x, y in batches]
            print(f"epoch {epoch + 1}: {sum(losses) / len(losses):.4f}")
