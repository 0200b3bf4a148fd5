"""Settings of backends."""

# https://docs.pytorch.org/docs/stable/backends.html
def __getattr__(*args, **kwargs) -> Any: ...
