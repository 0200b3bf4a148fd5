import torch
import torch.nn as nn


class Learner:
    def __init__(self, model, device=None):
        self.model = model
        self.device = device or ("cuda" if torch.cuda.is_available() else "cpu")
        self.optimizer = None

    def fit(self, x, y, steps):
        self.model.to(self.device)
        self.optimizer = torch.optim.Adagrad(self.model.parameters(), lr=0.05)
        x, y = x.to(self.device), y.to(self.device)
        for step in range(steps):
            loss = nn.functional.nll_loss(self.model(x), y)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            print(step, loss.item())
