"""Functions that read host memory."""

# https://seaborn.pydata.org/
def __getattr__(*args: Host, **kwargs: Host) -> Array: ...
