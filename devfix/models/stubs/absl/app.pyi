"""Functions as commands."""

# https://abseil.io/docs/python/guides/app
def run(main: Callable, *args, **kwargs) -> Any: ...
