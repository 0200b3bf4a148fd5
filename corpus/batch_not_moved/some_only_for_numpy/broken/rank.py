"""Learning to rank documents with a pairwise loss."""
import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


def make_queries(n):
    rng = np.random.default_rng(14)
    pos = torch.tensor(rng.normal(0.4, 1, size=(n, 7)), dtype=torch.float32)
    neg = torch.tensor(rng.normal(-0.4, 1, size=(n, 7)), dtype=torch.float32)
    qid = torch.arange(n)
    prior = torch.tensor(rng.random(n), dtype=torch.float32)
    return TensorDataset(qid, pos, neg, prior)


class Scorer(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(7, 14), nn.ELU(), nn.Linear(14, 1))

    def forward(self, docs):
        return self.layers(docs).squeeze(-1)


def main():
    torch.manual_seed(14)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    loader = DataLoader(make_queries(40), batch_size=10, shuffle=True)
    scorer = Scorer().to(device)
    optimizer = torch.optim.RMSprop(scorer.parameters(), lr=1e-3)
    seen = np.zeros(40, dtype=int)

    for epoch in range(2):
        for qid, pos, neg, prior in loader:
            margin = scorer(pos) - scorer(neg)
            loss = nn.functional.softplus(-margin).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            np.add.at(seen, qid.numpy(), 1)
            print(f"{epoch} loss {loss.item():.5f} prior {prior.mean().item():.4f} seen {seen.max()}")


if __name__ == "__main__":
    main()
