import importlib.util
import sys
from pathlib import Path

import torch
from torch import nn

from targets import Smoother

CONFIG = {"model": "zoo/tiny_lm.py", "class": "TinyLM", "kwargs": {"vocab": 11, "dim": 8}, "smooth": 0.1}


def load_class(path, name):
    spec = importlib.util.spec_from_file_location("user_model", Path(__file__).parent / path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return getattr(module, name)


class Trainer:
    def __init__(self, config):
        torch.manual_seed(8)
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self.model = load_class(config["model"], config["class"])(**config["kwargs"]).to(self.device)
        self.smoother = Smoother(config["kwargs"]["vocab"], config["smooth"])
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=2e-3)

    def step(self):
        tokens = torch.randint(0, 11, (5, 7))
        logp = self.model(tokens[:, :-1].to(self.device)).log_softmax(-1)
        soft = self.smoother[tokens[:, 1:]]
        loss = -(soft * logp).sum(-1).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()


if __name__ == "__main__":
    trainer = Trainer(CONFIG)
    for i in range(5):
        print(f"{i} {trainer.step():.5f}")
