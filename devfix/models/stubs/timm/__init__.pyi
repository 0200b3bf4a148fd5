"""Image models."""

# https://huggingface.co/docs/timm
def create_model(*args, **kwargs) -> Module: ...
