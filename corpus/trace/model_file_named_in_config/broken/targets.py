import torch


class Smoother:
    """Rows of a matrix with a little of every class."""

    def __init__(self, classes, amount):
        self._rows = torch.eye(classes) * (1 - amount) + amount / classes

    def __getitem__(self, labels):
        return self._rows[labels]
