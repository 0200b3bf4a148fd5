import torch

import geometry
from lab.energy import Interval


class Trainer:
    def __init__(self, conf):
        torch.manual_seed(2)
        self.conf = conf
        self.device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
        self.model = Interval(geometry.metric(conf["space"]), conf["width"])
        self.model.to(self.device)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=conf["rate"])

    def run(self):
        for step in range(self.conf["steps"]):
            x = torch.rand(16, 4).to(self.device)
            loss = (self.model(x) + 1.0).pow(2).mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            print("step", step, "loss", loss.item())
