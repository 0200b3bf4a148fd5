import torch.nn.functional as F
import torch
from torch import nn

from base import Experiment


class Regressor(nn.Module):
    def __init__(self, outputs):
        super().__init__()
        self.hidden = nn.Linear(4, 12)
        self.output = nn.Linear(12, outputs)

    def forward(self, x):
        return self.output(F.softplus(self.hidden(x)))


class QuantileExperiment(Experiment):
    quantiles = (0.1, 0.5, 0.9)

    def build_model(self):
        return Regressor(outputs=1)

    def set_quantiles(self, quantiles):
        self.quantiles = tuple(quantiles)
        self.model.output = nn.Linear(self.model.output.in_features, len(self.quantiles))

    def batches(self):
        for _ in range(5):
            x = torch.randn(16, 4)
            yield x, x.pow(2).sum(dim=1, keepdim=True)

    def loss(self, batch):
        x, y = batch
        error = y - self.model(x)
        total = 0
        for k, q in enumerate(self.quantiles):
            e = error[:, k]
            total = total + torch.max(q * e, (q - 1) * e).mean()
        return total


if __name__ == "__main__":
    experiment = QuantileExperiment(seed=3)
    experiment.set_quantiles([0.05, 0.25, 0.5, 0.75, 0.95])
    experiment.fit()
