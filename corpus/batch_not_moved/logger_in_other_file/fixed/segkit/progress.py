import sys


def progress(iterable, desc="", every=1):
    """A very small stand-in for a progress bar."""
    total = len(iterable)
    for n, item in enumerate(iterable, start=1):
        yield item
        if n % every == 0:
            sys.stderr.write(f"{desc} {n}/{total}\n")
