"""Windows for signals: factories."""

# https://docs.pytorch.org/docs/stable/signal.html
def __getattr__(*args, device: Device = ..., **kwargs) -> Fresh[device]: ...
