"""A bar that shows nothing."""


class tqdm:  # noqa: N801 - as in the package
    """Iterate without a bar."""

    def __init__(self, iterable=(), *args: object, **kwargs: object) -> None:  # noqa: ANN001
        self.iterable = iterable

    def __iter__(self):  # noqa: ANN204
        return iter(self.iterable)

    def __enter__(self):  # noqa: ANN204
        return self

    def __exit__(self, *args: object) -> None:
        pass

    def __getattr__(self, name: str):  # noqa: ANN204
        return lambda *args, **kwargs: None


trange = lambda *args, **kwargs: range(*args)  # noqa: E731
