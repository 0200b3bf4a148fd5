"""Metrics are modules: ``.to()`` moves their state, and they need it."""

from torch.nn import ModuleList as MetricCollection

# https://lightning.ai/docs/torchmetrics/stable/pages/overview.html#metrics-and-devices
class __getattr__(Metric): ...
