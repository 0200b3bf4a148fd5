"""Functions that read host memory."""

# https://scikit-learn.org/stable/
def __getattr__(*args: Host, **kwargs: Host) -> Array: ...
