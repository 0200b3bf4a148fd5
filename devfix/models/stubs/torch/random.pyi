"""Random states."""

from torch import set_rng_state as set_rng_state

# https://docs.pytorch.org/docs/stable/random.html
def __getattr__(*args, **kwargs) -> Any: ...
