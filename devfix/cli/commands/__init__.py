"""The commands of the command line, one module each.

In: arguments.  Out: output and an exit code.  A module has a click command named ``command`` and imports the code that
runs it on use, so that ``devfix --help`` stays fast.  May import :mod:`devfix.cli` and everything below it.
"""
