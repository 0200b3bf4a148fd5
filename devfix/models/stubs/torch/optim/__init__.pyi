"""Optimizers; most create their state in the first step."""

# https://docs.pytorch.org/docs/stable/optim.html
class __getattr__(Optimizer): ...

# https://docs.pytorch.org/docs/stable/generated/torch.optim.Adagrad.html
class Adagrad(Optimizer, eager=True): ...
