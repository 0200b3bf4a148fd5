"""Functions that read their arguments and move nothing."""

# https://pypi.org/project/ptflops/
def __getattr__(*args, **kwargs) -> Any: ...
