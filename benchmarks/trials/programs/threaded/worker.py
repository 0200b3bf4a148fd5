"""A training job that runs in a thread and reports through a queue, as in a small service."""
import queue
import threading

import torch
from torch import nn


class Job(threading.Thread):
    def __init__(self, results, seed=0):
        super().__init__()
        self.results = results
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        torch.manual_seed(seed)
        self.model = nn.Sequential(nn.Linear(5, 10), nn.Dropout(0.2), nn.PReLU(), nn.Linear(10, 1)).to(self.device)
        self.x = torch.randn(40, 5)
        self.y = self.x.pow(2).sum(1, keepdim=True)

    def run(self):
        try:
            optimizer = torch.optim.Adam(self.model.parameters(), lr=0.02)
            for epoch in range(4):
                for x, y in zip(self.x.split(10), self.y.split(10)):
                    loss = nn.functional.mse_loss(self.model(x.to(self.device)), y)
                    optimizer.zero_grad()
                    loss.backward()
                    optimizer.step()
                self.results.put(("progress", epoch, round(loss.item(), 4)))
            self.results.put(("done", 4, None))
        except RuntimeError as error:
            self.results.put(("failed", -1, error))


def main():
    results = queue.Queue()
    job = Job(results)
    job.start()
    while True:
        kind, epoch, value = results.get()
        if kind == "failed":
            raise value
        if kind == "done":
            break
        print("epoch", epoch, "loss", value)
    job.join()
    torch.save(job.model.state_dict(), "job.pt")


if __name__ == "__main__":
    main()
