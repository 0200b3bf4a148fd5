import abc

import torch


class BaseTask(abc.ABC):
    lr = 1e-2

    def __init__(self):
        self.device = self._choose_device()
        self.model = self.build().to(self.device)

    @staticmethod
    def _choose_device():
        return torch.device("cuda") if torch.cuda.is_available() else torch.device("cpu")

    @abc.abstractmethod
    def build(self):
        ...

    @abc.abstractmethod
    def compute_loss(self, x, y):
        ...

    def fit(self, loader):
        optimizer = torch.optim.Adam(self.model.parameters(), lr=self.lr)
        for batch in loader:
            loss = self.compute_loss(*(part.to(self.device) for part in batch))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            print(type(self).__name__, loss.item())
