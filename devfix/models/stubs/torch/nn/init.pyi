"""Initialization in place."""

# https://docs.pytorch.org/docs/stable/nn.init.html
def __getattr__(tensor, *args, **kwargs) -> Of[tensor]: ...
