"""Plots."""

# https://matplotlib.org/stable/
def __getattr__(*args, **kwargs) -> Any: ...
