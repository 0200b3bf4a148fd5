"""Options of the command line, declared as classes."""

# https://brentyi.github.io/tyro/
def cli(f, *args, **kwargs) -> Overlay: ...
