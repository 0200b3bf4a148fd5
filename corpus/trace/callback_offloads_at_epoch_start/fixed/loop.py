import torch
from torch import nn


class Loop:
    parkable = ("teacher",)

    def __init__(self, callbacks):
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self.callbacks = sorted(callbacks, key=lambda c: c.priority)
        self.student = nn.Linear(6, 3).to(self.device)
        self.teacher = nn.Sequential(nn.Linear(6, 18), nn.ReLU(), nn.Linear(18, 3)).to(self.device).eval()
        self.opt = torch.optim.SGD(self.student.parameters(), lr=0.2)

    def fire(self, event):
        for callback in self.callbacks:
            getattr(callback, "on_" + event)(self)

    def fit(self, epochs, batches=2):
        for self.epoch in range(epochs):
            self.fire("epoch_start")
            self.teacher.to(self.device)
            for _ in range(batches):
                self.train_batch(torch.randn(8, 6).to(self.device))
            self.fire("epoch_end")

    def train_batch(self, x):
        with torch.no_grad():
            goal = self.teacher(x).softmax(-1)
        self.loss = nn.functional.kl_div(self.student(x).log_softmax(-1), goal, reduction="batchmean")
        self.opt.zero_grad()
        self.loss.backward()
        self.opt.step()
