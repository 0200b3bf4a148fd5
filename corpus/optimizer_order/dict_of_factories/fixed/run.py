import argparse

import torch
import torch.nn as nn
import torch.optim as optim

OPTIMIZERS = {
    "sgd": optim.SGD,
    "adam": optim.Adam,
    "adagrad": optim.Adagrad,
}


class DeepFM(nn.Module):
    """Factorization machine over a few categorical fields."""

    def __init__(self, field_sizes, dim=4):
        super().__init__()
        self.linear = nn.ModuleList([nn.Embedding(n, 1) for n in field_sizes])
        self.factors = nn.ModuleList([nn.Embedding(n, dim) for n in field_sizes])
        self.deep = nn.Sequential(nn.Linear(dim * len(field_sizes), 8), nn.ReLU(), nn.Linear(8, 1))

    def forward(self, fields):
        first = sum(emb(fields[:, i]) for i, emb in enumerate(self.linear))
        vectors = torch.stack([emb(fields[:, i]) for i, emb in enumerate(self.factors)], dim=1)
        pair = 0.5 * (vectors.sum(1).pow(2) - vectors.pow(2).sum(1)).sum(1, keepdim=True)
        return (first + pair + self.deep(vectors.flatten(1))).squeeze(1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--optimizer", choices=OPTIMIZERS, default="adagrad")
    parser.add_argument("--lr", type=float, default=0.05)
    args = parser.parse_args()

    torch.manual_seed(2)
    sizes = [6, 9, 4]
    model = DeepFM(sizes)
    loss_fn = nn.BCEWithLogitsLoss()

    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model.to(device)
    optimizer = OPTIMIZERS[args.optimizer](model.parameters(), lr=args.lr)

    for step in range(6):
        fields = torch.stack([torch.randint(0, n, (32,)) for n in sizes], dim=1)
        clicks = (fields.sum(dim=1) % 3 == 0).float()
        loss = loss_fn(model(fields.to(device)), clicks.to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(step, round(loss.item(), 6))


if __name__ == "__main__":
    main()
