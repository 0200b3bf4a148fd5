import collections
import random

import torch

Transition = collections.namedtuple("Transition", "obs action reward")


class Memory:
    def __init__(self, limit, seed):
        self.items = collections.deque(maxlen=limit)
        self.random = random.Random(seed)

    def push(self, *fields):
        self.items.append(Transition(*(torch.as_tensor(field).cpu() for field in fields)))

    def sample(self, n):
        chosen = self.random.sample(self.items, n)
        return Transition(*map(torch.stack, zip(*chosen)))
