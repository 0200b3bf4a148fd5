"""Progress bars."""

# https://rich.readthedocs.io/en/stable/progress.html
def track(sequence, *args, **kwargs) -> Same[sequence]: ...
