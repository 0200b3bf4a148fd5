import argparse
import io

import torch
import torch.nn as nn

from store import BlobStore

BLOB = "runs/demo/model"


class Job:
    def __init__(self, store, device):
        self.store = store
        self.device = device
        torch.manual_seed(15)
        self.model = nn.Sequential(nn.Linear(4, 10), nn.ReLU(), nn.Linear(10, 2)).to(device)
        self.optim = torch.optim.AdamW(self.model.parameters(), lr=0.02)
        self.step = 0

    def checkpoint(self):
        buffer = io.BytesIO()
        torch.save([self.step, self.model.state_dict(), self.optim.state_dict()], buffer)
        self.store.put(BLOB, buffer.getvalue())

    def restore(self):
        blob = self.store.get(BLOB)
        if blob is None:
            print("fresh start")
            return
        self.step, model, optim = torch.load(io.BytesIO(blob), map_location=self.device)
        self.model.load_state_dict(model)
        self.optim.load_state_dict(optim)
        print("restored at step", self.step)

    def run(self, steps):
        while self.step < steps:
            g = torch.Generator().manual_seed(self.step)
            x = torch.randn(12, 4, generator=g)
            loss = nn.functional.cross_entropy(self.model(x.to(self.device)), (x[:, 0] > 0).long().to(self.device))
            self.optim.zero_grad()
            loss.backward()
            self.optim.step()
            self.step += 1
            print(self.step, loss.item())
        self.checkpoint()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=6)
    args = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    job = Job(BlobStore("blobs"), device)
    job.restore()
    job.run(args.steps)


if __name__ == "__main__":
    main()
