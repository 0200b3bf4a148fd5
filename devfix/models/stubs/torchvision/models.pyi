"""Models of torchvision."""

# https://docs.pytorch.org/vision/stable/models.html
def __getattr__(*args, **kwargs) -> Module: ...
