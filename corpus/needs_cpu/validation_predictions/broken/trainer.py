import argparse

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn


class Trainer:
    def __init__(self, args):
        self.device = torch.device(args.device)
        self.model = nn.Linear(8, 3).to(self.device)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=args.lr)

    def fit(self, batches):
        for features, labels in batches:
            features, labels = features.to(self.device), labels.to(self.device)
            loss = F.cross_entropy(self.model(features), labels)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            print("loss", loss.item())

    @torch.no_grad()
    def validate(self, batches):
        self.model.eval()
        predicted, expected = [], []
        for features, labels in batches:
            logits = self.model(features.to(self.device))
            _, best = torch.max(logits, 1)
            predicted.extend(best.numpy())
            expected.extend(labels.numpy())
        return float(np.mean(np.array(predicted) == np.array(expected)))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lr", type=float, default=0.1)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    args = parser.parse_args()
    torch.manual_seed(1)
    batches = [(torch.randn(10, 8), torch.randint(0, 3, (10,))) for _ in range(5)]
    trainer = Trainer(args)
    trainer.fit(batches)
    print("accuracy", trainer.validate(batches))


if __name__ == "__main__":
    main()
