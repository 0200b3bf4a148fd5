import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F


class Moco:
    def __init__(self, args):
        self.args = args
        self.device = torch.device(args.device)
        self.encoder_q = nn.Linear(10, 6).to(self.device)
        self.encoder_k = nn.Linear(10, 6).to(self.device)
        self.encoder_k.load_state_dict(self.encoder_q.state_dict())
        self.encoder_k.requires_grad_(False)
        self.optimizer = torch.optim.SGD(self.encoder_q.parameters(), lr=0.1)
        bank = torch.load(args.bank)
        self.queue, self.ptr = bank["queue"], bank["ptr"]

    @torch.no_grad()
    def momentum_update(self):
        for q, k in zip(self.encoder_q.parameters(), self.encoder_k.parameters()):
            k.mul_(0.99).add_(q, alpha=0.01)

    @torch.no_grad()
    def enqueue(self, keys):
        n = keys.size(0)
        self.queue[:, self.ptr:self.ptr + n] = keys.t()
        self.ptr = (self.ptr + n) % self.queue.size(1)

    def step(self, x1, x2):
        q = F.normalize(self.encoder_q(x1), dim=1)
        with torch.no_grad():
            self.momentum_update()
            k = F.normalize(self.encoder_k(x2), dim=1)
        pos = (q * k).sum(dim=1, keepdim=True)
        neg = q @ self.queue.clone()
        logits = torch.cat([pos, neg], dim=1) / 0.2
        labels = torch.zeros(len(q), dtype=torch.long, device=self.device)
        loss = F.cross_entropy(logits, labels)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.enqueue(k)
        return loss.item()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--bank", required=True)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    args = parser.parse_args()
    torch.manual_seed(0)
    moco = Moco(args)
    for i in range(5):
        x = torch.randn(8, 10)
        x1 = (x + 0.1 * torch.randn(8, 10)).to(moco.device)
        x2 = (x + 0.1 * torch.randn(8, 10)).to(moco.device)
        print("iter %d loss %.5f" % (i, moco.step(x1, x2)))
