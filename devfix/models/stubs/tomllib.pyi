"""Functions that read their arguments and move nothing."""

# https://docs.python.org/3/library/tomllib.html
def __getattr__(*args, **kwargs) -> Any: ...
