"""Functions as commands."""

# https://google.github.io/python-fire/
def Fire(component: Callable, *args, **kwargs) -> Any: ...
