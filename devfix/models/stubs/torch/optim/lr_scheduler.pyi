"""Schedulers of the learning rate."""

# https://docs.pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate
class __getattr__(Scheduler): ...
