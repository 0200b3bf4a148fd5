import torch

from engine.registry import build


class Runner:
    device = None

    def __init__(self, cfg):
        self.cfg = cfg
        self.model = build("model", cfg["model"])
        self.callbacks = [build("callback", c) for c in cfg["callbacks"]]

    def call(self, event):
        for callback in self.callbacks:
            getattr(callback, event, lambda runner: None)(self)

    def fit(self):
        self.call("on_train_begin")
        self.optimizer = build("optimizer", self.cfg["optimizer"], self.model.parameters())
        for self.step in range(self.cfg["steps"]):
            x = torch.randn(8, 5).to(self.device)
            self.loss = (self.model(x) - x.sum(1, keepdim=True)).square().mean()
            self.optimizer.zero_grad()
            self.loss.backward()
            self.optimizer.step()
            self.call("on_step_end")
