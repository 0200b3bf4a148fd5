"""Generators that run in a thread."""

# https://github.com/justheuristic/prefetch_generator
def BackgroundGenerator(generator, *args, **kwargs) -> Same[generator]: ...
