import torch


class WarmupOpt:
    "Optimizer wrapper that implements rate."

    def __init__(self, params, factor, warmup):
        self.optimizer = torch.optim.Adagrad(params, lr=0.0)
        self._step = 0
        self.warmup = warmup
        self.factor = factor
        self.rate = 0.0

    def step(self):
        "Update parameters and rate"
        self._step += 1
        self.rate = self.factor * min(self._step ** -0.5, self._step * self.warmup ** -1.5)
        for p in self.optimizer.param_groups:
            p['lr'] = self.rate
        self.optimizer.step()

    def zero_grad(self):
        self.optimizer.zero_grad()
