"""TensorBoard."""

# https://docs.pytorch.org/docs/stable/tensorboard.html
def __getattr__(*args, **kwargs) -> Any: ...
