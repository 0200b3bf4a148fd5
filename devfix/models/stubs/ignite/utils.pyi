"""Moves of nested containers."""

# https://docs.pytorch.org/ignite/utils.html
def convert_tensor(x, device: Device = ..., *args, **kwargs) -> Overlay: ...
