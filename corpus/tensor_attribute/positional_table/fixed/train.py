import argparse

import torch
import torch.nn as nn
from models import PositionalEncoding


class Classifier(nn.Module):
    def __init__(self, d_model=8):
        super().__init__()
        self.embed = nn.Embedding(20, d_model)
        self.position = PositionalEncoding(d_model)
        self.fc = nn.Linear(d_model, 3)

    def forward(self, ids):
        return self.fc(self.position(self.embed(ids)).mean(dim=1))


class Trainer:
    def __init__(self, model, args):
        self.device = torch.device(args.device if torch.cuda.is_available() else "cpu")
        self.model = model.to(self.device)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=args.lr)
        self.criterion = nn.CrossEntropyLoss()

    def fit(self, data, epochs):
        for epoch in range(epochs):
            for ids, labels in data:
                ids, labels = ids.to(self.device), labels.to(self.device)
                loss = self.criterion(self.model(ids), labels)
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
            print(f"epoch {epoch}: {loss.item():.6f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--lr", type=float, default=1e-2)
    args = parser.parse_args()
    torch.manual_seed(1)
    data = [(torch.randint(0, 20, (4, 7)), torch.randint(0, 3, (4,))) for _ in range(3)]
    Trainer(Classifier(), args).fit(data, args.epochs)
