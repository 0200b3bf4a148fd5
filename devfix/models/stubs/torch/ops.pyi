"""Operators that a library registers; only it knows where their results are."""

# https://docs.pytorch.org/docs/stable/library.html
def __getattr__(*args, **kwargs) -> Any: ...
