"""Options of the command line."""

from types import SimpleNamespace as Namespace

# https://docs.python.org/3/library/argparse.html
class ArgumentParser(Overlay): ...
