"""Options from a function's defaults, in ten lines."""
import argparse
import functools
import inspect


def command(fn):
    @functools.wraps(fn)
    def wrapper():
        parser = argparse.ArgumentParser(prog=fn.__name__)
        for name, p in inspect.signature(fn).parameters.items():
            parser.add_argument("--" + name.replace("_", "-"), type=p.annotation, default=p.default)
        return fn(**vars(parser.parse_args()))
    return wrapper
