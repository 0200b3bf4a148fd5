"""Options of the command line, declared as classes."""

# https://github.com/lebrice/SimpleParsing
def parse(config_class, *args, **kwargs) -> Overlay: ...
