import time
from collections import defaultdict


class SmoothedValue(object):
    def __init__(self, fmt="{avg:.4f}"):
        self.total = 0.0
        self.count = 0
        self.fmt = fmt

    def update(self, value, n=1):
        self.count += n
        self.total += value * n

    @property
    def global_avg(self):
        return self.total / max(self.count, 1)

    def __str__(self):
        return self.fmt.format(avg=self.global_avg)


class MetricLogger(object):
    def __init__(self, delimiter="  "):
        self.meters = defaultdict(SmoothedValue)
        self.delimiter = delimiter

    def add_meter(self, name, meter):
        self.meters[name] = meter

    def update(self, **kwargs):
        for k, v in kwargs.items():
            self.meters[k].update(v)

    def global_avg(self):
        return self.delimiter.join("{}: {}".format(k, m) for k, m in self.meters.items())

    def log_every(self, iterable, print_freq, header=None):
        i = 0
        if not header:
            header = ''
        start_time = time.time()
        for obj in iterable:
            yield obj
            if i % print_freq == 0 or i == len(iterable) - 1:
                print(self.delimiter.join([header, '[{}/{}]'.format(i, len(iterable)), self.global_avg()]))
            i += 1
        assert time.time() >= start_time
