"""Functions that read their arguments and move nothing."""

# https://pypi.org/project/toml/
def __getattr__(*args, **kwargs) -> Any: ...
