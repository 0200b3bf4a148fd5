import argparse
import random

import torch
from torch.utils.data import DataLoader

from data.batch import PropPairCollator
from model import SubEncoder, sup_con_loss


def load_examples(count, seed):
    rng = random.Random(seed)
    examples = []
    for _ in range(count):
        tokens = [rng.randint(1, 39) for _ in range(rng.randint(5, 8))]
        examples.append((tokens, [(0, 2, tokens[0] % 3), (2, len(tokens), tokens[2] % 3)]))
    return examples


def main(args):
    torch.manual_seed(args.seed)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

    train_loader = DataLoader(load_examples(16, args.seed), batch_size=args.batch_size, collate_fn=PropPairCollator())

    model = SubEncoder()
    model.to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr)

    model.train()
    for epoch in range(args.epochs):
        for step, batch in enumerate(train_loader):
            batch = batch.to(device)
            embeddings = model(batch)
            loss = sup_con_loss(embeddings, batch.labels)

            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            print(f"epoch {epoch} step {step} ({len(batch.texts)} sentences): {loss.item():.4f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--batch_size", type=int, default=4)
    parser.add_argument("--lr", type=float, default=1e-3)
    parser.add_argument("--seed", type=int, default=0)
    main(parser.parse_args())
