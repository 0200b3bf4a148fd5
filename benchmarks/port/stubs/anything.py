"""A package that is imported and not needed: each name is a callable object without effect."""


class Anything:
    """An object without effect; a decorator returns the function."""

    def __getattr__(self, name: str) -> "Anything":
        if name.startswith("__"):
            raise AttributeError(name)
        return Anything()

    def __call__(self, *args: object, **kwargs: object) -> object:
        return args[0] if len(args) == 1 and not kwargs and callable(args[0]) else Anything()


def __getattr__(name: str) -> Anything:
    if name.startswith("__"):
        raise AttributeError(name)
    return Anything()
