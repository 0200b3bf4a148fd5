import torch
from torch.optim.optimizer import Optimizer


class MiniRanger(Optimizer):
    """Sign momentum with a slow copy of the weights that is synchronised every k steps."""

    def __init__(self, params, lr=1e-3, beta=0.9, alpha=0.5, k=6):
        super().__init__(params, dict(lr=lr, beta=beta))
        self.alpha = alpha
        self.k = k
        self.count = 0
        self.slow_weights = [[p.clone().detach() for p in group['params']] for group in self.param_groups]

    @torch.no_grad()
    def step(self, closure=None):
        self.count += 1
        for group, slow in zip(self.param_groups, self.slow_weights):
            for p, s in zip(group['params'], slow):
                if p.grad is None:
                    continue
                state = self.state[p]
                if not state:
                    state['m'] = torch.zeros_like(p)
                state['m'].mul_(group['beta']).add_(p.grad, alpha=1 - group['beta'])
                p.add_(state['m'].sign(), alpha=-group['lr'])
                if self.count % self.k == 0:
                    s.add_(p - s, alpha=self.alpha)
                    p.copy_(s)
