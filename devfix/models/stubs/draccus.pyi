"""Options of the command line and of configuration files, declared as classes."""

# https://github.com/dlwh/draccus
def parse(config_class, *args, **kwargs) -> Overlay: ...
