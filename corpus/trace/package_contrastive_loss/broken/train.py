import configparser
import importlib
import os

import torch
from torch import nn


class Pretraining:
    def __init__(self, path):
        self.cfg = configparser.ConfigParser()
        self.cfg.read(path)
        torch.manual_seed(10)
        self.device = "cuda" if torch.cuda.is_available() else "cpu"
        self.encoder = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4)).to(self.device)
        loss = self.cfg["loss"]
        self.loss = getattr(importlib.import_module(loss["package"]), loss["class"])().to(self.device)
        self.optimizer = torch.optim.SGD(self.encoder.parameters(), lr=self.cfg["train"].getfloat("lr"))

    def views(self):
        x = torch.randn(6, 8)
        return [(x + 0.1 * torch.randn_like(x)).to(self.device) for _ in range(2)]

    def run(self):
        for step in range(self.cfg["train"].getint("steps")):
            loss = self.loss(*map(self.encoder, self.views()))
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            print(step, loss.item())


Pretraining(os.path.join(os.path.dirname(os.path.abspath(__file__)), "cfg.ini")).run()
