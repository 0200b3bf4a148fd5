"""DeepSpeed."""

# https://deepspeed.readthedocs.io/en/latest/initialize.html
def initialize(*args, **kwargs) -> Overlay: ...
