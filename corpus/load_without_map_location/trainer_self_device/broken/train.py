import argparse
import os

import torch
from torch import nn


class Trainer(object):
    def __init__(self, out_dir):
        self.out_dir = out_dir
        self.device = torch.device("cuda:0") if torch.cuda.is_available() else torch.device("cpu")
        self.model = nn.GRU(4, 8, batch_first=True).to(self.device)
        self.readout = nn.Linear(8, 1).to(self.device)
        self.params = list(self.model.parameters()) + list(self.readout.parameters())
        self.optim = torch.optim.Adam(self.params, lr=0.01)
        self.epoch = 0

    def save(self):
        os.makedirs(self.out_dir, exist_ok=True)
        with open(os.path.join(self.out_dir, "ckpt_%d.bin" % self.epoch), "wb") as f:
            torch.save(
                dict(model=self.model.state_dict(), readout=self.readout.state_dict(),
                     optim=self.optim.state_dict(), epoch=self.epoch), f)

    def load(self, path):
        with open(path, "rb") as f:
            ckpt = torch.load(f)
        self.model.load_state_dict(ckpt["model"])
        self.readout.load_state_dict(ckpt["readout"])
        self.optim.load_state_dict(ckpt["optim"])
        self.epoch = ckpt["epoch"]

    def run(self, epochs):
        gen = torch.Generator().manual_seed(8)
        series = torch.randn(24, 10, 4, generator=gen).cumsum(1)
        while self.epoch < epochs:
            for chunk in series.split(8):
                chunk = chunk.to(self.device)
                hidden, _ = self.model(chunk[:, :-1])
                pred = self.readout(hidden).squeeze(-1)
                loss = nn.functional.mse_loss(pred, chunk[:, 1:, 0])
                self.optim.zero_grad()
                loss.backward()
                self.optim.step()
                print(self.epoch, loss.item())
            self.epoch += 1
            self.save()


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=2)
    ap.add_argument("--continue-from")
    ap.add_argument("--out-dir", default="runs")
    opts = ap.parse_args()
    torch.manual_seed(4)
    trainer = Trainer(opts.out_dir)
    if opts.continue_from:
        trainer.load(opts.continue_from)
    trainer.run(opts.epochs)
