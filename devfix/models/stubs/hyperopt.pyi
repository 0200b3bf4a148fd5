"""Searches for hyperparameters."""

# https://hyperopt.github.io/hyperopt/getting-started/minimizing_functions/
def fmin(fn: Callable, space, *args, **kwargs) -> Any: ...
