"""Options of the command line and of configuration files, declared as classes."""

# https://github.com/eladrich/pyrallis
def parse(config_class, *args, **kwargs) -> Overlay: ...
