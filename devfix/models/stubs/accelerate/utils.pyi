"""Moves of nested containers."""

# https://huggingface.co/docs/accelerate/package_reference/utilities
def send_to_device(tensor, device: Device, *args, **kwargs) -> Overlay: ...
