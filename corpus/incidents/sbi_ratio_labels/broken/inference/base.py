from abc import ABC, abstractmethod
from typing import Optional, Tuple

import torch
from torch import Tensor, nn, optim
from torch.utils import data


def process_device(device: str) -> str:
    """Use the first GPU where one is asked for and there is one."""
    if device == "gpu" and torch.cuda.is_available():
        torch.cuda.set_device(0)
        return "cuda:0"
    return "cpu"


class RatioEstimator(ABC):
    def __init__(self, prior, classifier: str = "mlp", device: str = "cpu"):
        self._prior = prior
        self._device = process_device(device)
        self._classifier = classifier
        self._neural_net: Optional[nn.Module] = None
        self._data: Optional[Tuple[Tensor, Tensor]] = None

    def append_simulations(self, theta: Tensor, x: Tensor) -> "RatioEstimator":
        self._data = (theta, x)
        return self

    def train(self, num_atoms: int = 4, batch_size: int = 20, learning_rate: float = 5e-3, max_epochs: int = 2):
        theta, x = self._data
        loader = data.DataLoader(data.TensorDataset(theta, x), batch_size=batch_size, shuffle=True, drop_last=True)
        width = theta.shape[1] + x.shape[1]
        self._neural_net = nn.Sequential(nn.Linear(width, 16), nn.ReLU(), nn.Linear(16, 1))
        self._neural_net.to(self._device)
        optimizer = optim.Adam(list(self._neural_net.parameters()), lr=learning_rate)
        for epoch in range(max_epochs):
            self._neural_net.train()
            train_loss = 0.0
            for batch in loader:
                optimizer.zero_grad()
                theta_batch, x_batch = (batch[0].to(self._device), batch[1].to(self._device))
                loss = self._loss(theta_batch, x_batch, num_atoms)
                loss.backward()
                optimizer.step()
                train_loss += loss.item()
            print(f"epoch {epoch} {train_loss:.4f}")
        return self._neural_net

    @abstractmethod
    def _loss(self, theta: Tensor, x: Tensor, num_atoms: int) -> Tensor:
        raise NotImplementedError

    def _classifier_logits(self, theta: Tensor, x: Tensor, num_atoms: int) -> Tensor:
        batch_size = theta.shape[0]
        repeated_x = x.repeat_interleave(num_atoms, dim=0)
        probs = (1 - torch.eye(batch_size)) / (batch_size - 1)
        choices = torch.multinomial(probs, num_samples=num_atoms - 1, replacement=False).to(theta.device)
        contrasting_theta = theta[choices]
        atomic_theta = torch.cat((theta[:, None, :], contrasting_theta), dim=1).reshape(batch_size * num_atoms, -1)
        return self._neural_net(torch.cat([atomic_theta, repeated_x], dim=1))
