"""A data pipeline with a cache that fills itself at the start of an epoch (stands in for an external package)."""


class DiskCache:
    def __init__(self, source, cache_fun, before_cache_fun):
        self.source = source
        self.cache_fun = cache_fun
        self.before_cache_fun = before_cache_fun
        self.cached = None

    def start_next_epoch(self):
        if self.cached is None:
            self.before_cache_fun()
            self.cached = [self.cache_fun(item) for item in self.source]

    def __iter__(self):
        return iter(self.cached)
