"""Parametrizations of weights."""

# https://docs.pytorch.org/docs/stable/nn.html#utilities
def __getattr__(module, *args, **kwargs) -> Same[module]: ...
