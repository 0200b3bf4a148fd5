"""Functions that read their arguments and move nothing."""

# https://pypi.org/project/torch-summary/
def __getattr__(*args, **kwargs) -> Any: ...
