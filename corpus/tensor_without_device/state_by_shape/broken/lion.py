import torch
from torch.optim.optimizer import Optimizer


class Lion(Optimizer):
    def __init__(self, params, lr=1e-3, beta=0.9):
        super().__init__(params, dict(lr=lr, beta=beta))
        for group in self.param_groups:
            for p in group["params"]:
                self.state[p]["momentum"] = torch.zeros(p.shape)

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                momentum = self.state[p]["momentum"]
                momentum.mul_(group["beta"]).add_(p.grad, alpha=1 - group["beta"])
                p.add_(momentum.sign(), alpha=-group["lr"])
