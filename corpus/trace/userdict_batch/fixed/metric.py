import torch


class Running:
    def __init__(self, **start):
        for name, shape in start.items():
            object.__setattr__(self, name, torch.zeros(shape))

    def update(self, error):
        self.total = self.total.to(error.device) + error.detach()

    def compute(self, n):
        return (self.total / n).tolist()
