import argparse

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def make_mask(length):
    return torch.triu(torch.full((length, length), float("-inf")), diagonal=1)


def smooth(labels, classes, epsilon):
    target = torch.full((labels.size(0), classes), epsilon / (classes - 1))
    target.scatter_(1, labels.unsqueeze(1), 1.0 - epsilon)
    return target


class Tagger(nn.Module):
    def __init__(self, vocabulary, classes):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, 8)
        self.layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True)
        self.out = nn.Linear(8, classes)

    def forward(self, tokens, mask):
        return self.out(self.layer(self.embed(tokens), src_mask=mask)[:, -1])


def run(args):
    torch.manual_seed(args.seed)
    device = torch.device(args.device)
    data = TensorDataset(torch.randint(0, 30, (24, 6)), torch.randint(0, 4, (24,)))
    loader = DataLoader(data, batch_size=8, shuffle=True)
    model = Tagger(30, 4)
    model.to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)

    for epoch in range(args.epochs):
        for tokens, labels in loader:
            tokens = tokens.to(device)
            mask = make_mask(tokens.size(1)).to(device)
            logits = model(tokens, mask)
            target = smooth(labels, 4, 0.1).to(device)
            loss = -(target * F.log_softmax(logits, dim=-1)).sum(dim=-1).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            print("epoch", epoch, "loss", loss.item())

    model.eval()
    with torch.no_grad():
        tokens, labels = data[:8]
        tokens = tokens.to(device)
        labels = labels.to(device)
        print("held out", F.cross_entropy(model(tokens, make_mask(6).to(device)), labels).item())


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--lr", type=float, default=0.01)
    parser.add_argument("--seed", type=int, default=5)
    run(parser.parse_args())
