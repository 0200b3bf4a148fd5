"""Functions that read their arguments and move nothing."""

# https://pypi.org/project/tensorboardX/
def __getattr__(*args, **kwargs) -> Any: ...
