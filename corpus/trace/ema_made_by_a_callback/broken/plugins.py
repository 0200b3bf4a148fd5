import copy

import torch

PLUGINS = {}


class Plugin:
    def __init_subclass__(cls, name):
        PLUGINS[name] = cls

    def attached(self, trainer):
        pass

    def stepped(self, trainer):
        pass


class Ema(Plugin, name="ema"):
    def __init__(self, decay):
        self.decay = decay

    def attached(self, trainer):
        self.shadow = copy.deepcopy(trainer.net).eval()

    @torch.no_grad()
    def stepped(self, trainer):
        for s, p in zip(self.shadow.parameters(), trainer.net.parameters()):
            s.mul_(self.decay).add_(p, alpha=1 - self.decay)


class Report(Plugin, name="report"):
    def stepped(self, trainer):
        print(f"{trainer.count:3d} {trainer.last:.6f}")
