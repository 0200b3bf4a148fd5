import collections

import torch.nn as nn


def make(dim):
    parts = collections.OrderedDict(stem=nn.Linear(dim, 16), act=nn.SELU(), head=nn.Linear(16, 1))
    return nn.Sequential(parts)
