import torch


class Lookahead:
    def __init__(self, optimizer, la_steps=3, la_alpha=0.8):
        self.optimizer = optimizer
        self.la_steps = la_steps
        self.la_alpha = la_alpha
        self._step = 0
        self.cached = []
        for group in optimizer.param_groups:
            for p in group['params']:
                self.cached.append((p, p.detach().clone()))

    def zero_grad(self):
        self.optimizer.zero_grad()

    @property
    def param_groups(self):
        return self.optimizer.param_groups

    def step(self):
        self.optimizer.step()
        self._step += 1
        if self._step >= self.la_steps:
            self._step = 0
            with torch.no_grad():
                for p, slow in self.cached:
                    p.mul_(self.la_alpha).add_(slow * (1 - self.la_alpha))
                    slow.copy_(p)
