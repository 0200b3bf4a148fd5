"""DeepSpeed."""

# https://deepspeed.readthedocs.io/en/latest/initialize.html
def initialize(*args, **kwargs) -> Overlay: ...

# https://deepspeed.readthedocs.io/en/latest/inference-init.html
def init_inference(*args, **kwargs) -> Overlay: ...
