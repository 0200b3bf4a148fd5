import argparse
import math

import torch
import torch.nn as nn


class AttentionPool(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.query = nn.Parameter(torch.randn(dim) / math.sqrt(dim))
        self.key = nn.Linear(dim, dim)

    def forward(self, x):  # B, T, D
        w = torch.softmax(self.key(x) @ self.query, dim=1)
        return (w.unsqueeze(-1) * x).sum(dim=1)


class MeanPool(nn.Module):
    def forward(self, x):
        return x.mean(dim=1)


class Tagger(nn.Module):
    def __init__(self, vocab=50, dim=12, classes=3):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.mix = nn.Linear(dim, dim)
        self.pool = MeanPool()
        self.cls = nn.Linear(dim, classes)

    def forward(self, tokens):
        return self.cls(self.pool(torch.relu(self.mix(self.embed(tokens)))))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--local_rank", type=int, default=0)
    parser.add_argument("--pooling", choices=["mean", "attention"], default="attention")
    args = parser.parse_args()

    torch.manual_seed(args.local_rank)
    args.device = torch.device("cuda", args.local_rank) if torch.cuda.is_available() else torch.device("cpu")

    model = Tagger()
    model.to(args.device)
    if args.pooling == "attention":
        del model.pool
        model.pool = AttentionPool(12)
        model.to(args.device)

    no_decay = ["bias", "query"]
    grouped = [
        {"params": [p for n, p in model.named_parameters() if not any(nd in n for nd in no_decay)],
         "weight_decay": 0.01},
        {"params": [p for n, p in model.named_parameters() if any(nd in n for nd in no_decay)],
         "weight_decay": 0.0},
    ]
    optimizer = torch.optim.AdamW(grouped, lr=5e-3)
    lf = nn.CrossEntropyLoss()
    for global_step in range(5):
        tokens = torch.randint(0, 50, (8, 7))
        batch = tuple(t.to(args.device) for t in (tokens, tokens[:, 0] % 3))
        loss = lf(model(batch[0]), batch[1])
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        model.zero_grad()
        print("global_step = %d, loss = %.6f" % (global_step, loss.item()))


if __name__ == "__main__":
    main()
