import torch
from torch import nn, optim
from torch.utils.data import DataLoader

from batch import Batch, collate


class Stations:
    """Measurements of weather stations; older ones count less."""

    def __init__(self, n: int = 30):
        g = torch.Generator().manual_seed(40)
        self.samples = []
        for i in range(n):
            f = torch.randn(6, generator=g)
            self.samples.append({
                "name": f"station-{i}", "features": f,
                "target": float(f.sum()), "weight": 1.0 / (1 + i % 3),
            })

    def __len__(self) -> int:
        return len(self.samples)

    def __getitem__(self, i: int):
        return self.samples[i]


def weighted_mse(pred: torch.Tensor, target: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    return (weight * (pred - target) ** 2).sum() / weight.sum()


def train(loader: DataLoader, device: torch.device, epochs: int) -> None:
    model = nn.Sequential(nn.Linear(6, 10), nn.Tanh(), nn.Linear(10, 1)).to(device)
    optimizer = optim.Adam(model.parameters(), lr=1e-2)
    for epoch in range(epochs):
        seen = 0
        batch: Batch
        for batch in loader:
            features = batch.features.to(device)
            target = batch.target.to(device)
            loss = weighted_mse(model(features).squeeze(-1), target, batch.weight)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            seen += len(batch)
            print(f"{epoch}: {seen} {loss.item():.6f} last={batch.names[-1]}")


if __name__ == "__main__":
    torch.manual_seed(0)
    train(
        DataLoader(Stations(), batch_size=10, shuffle=True, collate_fn=collate),
        torch.device("cuda" if torch.cuda.is_available() else "cpu"),
        epochs=2,
    )
