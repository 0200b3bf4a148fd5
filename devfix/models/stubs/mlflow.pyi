"""Functions that read their arguments and move nothing."""

# https://pypi.org/project/mlflow/
def __getattr__(*args, **kwargs) -> Any: ...
