"""Whiten generated patches and write them as arrays, with their statistics as text."""
import pathlib

import numpy as np
import torch

OUT = pathlib.Path("processed")


class Whitening:
    def __init__(self, epsilon=1e-3):
        self.epsilon = epsilon

    def fit(self, x):
        self.mean = x.mean(0)
        centered = x - self.mean
        covariance = centered.T @ centered / (len(x) - 1)
        values, vectors = np.linalg.eigh(covariance.numpy())
        self.transform = torch.from_numpy(vectors @ np.diag((values + self.epsilon) ** -0.5) @ vectors.T).float()
        return self

    def __call__(self, x):
        return (x - self.mean) @ self.transform


def patches(count=64, size=5):
    generator = np.random.default_rng(14)
    base = generator.normal(size=(count, size + 4))
    return torch.from_numpy(np.stack([base[:, i : i + size].mean(1) for i in range(5)], 1)).float()


def main():
    OUT.mkdir(exist_ok=True)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    x = patches().to(device)
    whitening = Whitening().fit(x)
    white = torch.cat([whitening(chunk) for chunk in x.split(16)])
    np.save(OUT / "white.npy", white.cpu().numpy())
    np.save(OUT / "transform.npy", whitening.transform.cpu().numpy())
    spread = white.std(0)
    (OUT / "stats.txt").write_text("\n".join(f"{i}\t{value:.4f}" for i, value in enumerate(spread.tolist())) + "\n")


if __name__ == "__main__":
    main()
