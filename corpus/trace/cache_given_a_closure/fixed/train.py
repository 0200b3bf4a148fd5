import argparse

import torch

from pipeline.cache import LatentCache
from pipeline.session import Session


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--refresh", type=int, default=2)
    return parser.parse_args()


def main():
    opts = parse()
    torch.manual_seed(11)
    session = Session(torch.device("cuda" if torch.cuda.is_available() else "cpu"))
    cache = LatentCache(size=12)
    session.install_hooks(cache)
    for epoch in range(opts.epochs):
        cache.tick(epoch, opts.refresh)
        session.begin(epoch)
        total = 0.0
        for latent, tokens in cache.batches(4):
            total += session.step(latent, tokens)
        print(f"epoch {epoch} {total:.5f}")


if __name__ == "__main__":
    main()
