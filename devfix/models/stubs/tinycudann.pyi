"""Fused networks, which create their parameters on the accelerator."""

# https://github.com/NVlabs/tiny-cuda-nn
def __getattr__(*args, **kwargs) -> Any: ...
