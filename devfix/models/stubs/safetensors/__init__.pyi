"""Files of tensors."""

# https://huggingface.co/docs/safetensors/api/torch
def safe_open(filename, framework=..., device: Device = ...) -> Overlay: ...
