"""Classify pulse maps by the particle that made them."""

import torch
from torch import nn

from training.loss_functions import CrossEntropyLoss, LogCoshLoss

PID = {1: 0, 12: 1, 14: 2}


class DynEdge(nn.Module):
    def __init__(self, nb_inputs: int, nb_outputs: int):
        super().__init__()
        self.post = nn.Sequential(nn.Linear(nb_inputs, 16), nn.LeakyReLU(), nn.Linear(16, nb_outputs))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.post(x).max(dim=1)[0]


class StandardModel(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.gnn = DynEdge(4, 12)
        self.pid = nn.Linear(12, 3)
        self.energy = nn.Linear(12, 1)
        self.loss_pid = CrossEntropyLoss(options=PID)
        self.loss_energy = LogCoshLoss()

    def shared_step(self, batch: dict) -> torch.Tensor:
        latent = self.gnn(batch["x"])
        return self.loss_pid(self.pid(latent), batch["pid"]) + self.loss_energy(self.energy(latent), batch["energy"])


def main() -> None:
    torch.manual_seed(328)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    pids = torch.tensor(sorted(PID))
    model = StandardModel().to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, eps=1e-3)
    for step in range(4):
        pid = pids[torch.randint(len(pids), (10,))]
        batch = {"x": torch.randn(10, 7, 4) + pid[:, None, None] / 10, "pid": pid, "energy": torch.rand(10)}
        batch = {key: value.to(device) for key, value in batch.items()}
        optimizer.zero_grad()
        loss = model.shared_step(batch)
        loss.backward()
        optimizer.step()
        print(f"step {step}: loss={loss.item():.4f}")


if __name__ == "__main__":
    main()
