"""Functions as commands."""

# https://typer.tiangolo.com/
def run(function: Callable) -> Any: ...
