"""Progress bars."""

# https://github.com/rsalmei/alive-progress
def alive_it(it, *args, **kwargs) -> Same[it]: ...
