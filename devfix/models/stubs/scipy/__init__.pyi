"""Functions that read host memory."""

# https://docs.scipy.org/doc/scipy/
def __getattr__(*args: Host, **kwargs: Host) -> Array: ...
