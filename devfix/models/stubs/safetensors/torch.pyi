"""Files of tensors."""

from safetensors import safe_open as safe_open

# https://huggingface.co/docs/safetensors/api/torch
def load_file(filename, device: Device = ...) -> Overlay: ...
