"""
Trains a small character model. Config comes first, everything else is plain PyTorch.
"""
import argparse
import os

import torch
import torch.nn as nn
from torch.nn import functional as F

parser = argparse.ArgumentParser()
parser.add_argument("--resume", action="store_true")
parser.add_argument("--max-iters", type=int, default=6)
cfg = parser.parse_args()

out_dir = "out"
learning_rate = 1e-2
betas = (0.9, 0.95)
block_size = 8
batch_size = 6
device = "cuda" if torch.cuda.is_available() else "cpu"
torch.manual_seed(1337)

text = "first citizen: before we proceed any further, hear me speak. all: speak, speak. " * 4
chars = sorted(set(text))
data = torch.tensor([chars.index(c) for c in text])


def get_batch(it):
    g = torch.Generator().manual_seed(it)
    ix = torch.randint(len(data) - block_size - 1, (batch_size,), generator=g)
    x = torch.stack([data[i:i + block_size] for i in ix])
    y = torch.stack([data[i + 1:i + 1 + block_size] for i in ix])
    return x.to(device), y.to(device)


class Bigram(nn.Module):
    def __init__(self, vocab, dim=16):
        super().__init__()
        self.wte = nn.Embedding(vocab, dim)
        self.wpe = nn.Embedding(block_size, dim)
        self.mlp = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim))
        self.lm_head = nn.Linear(dim, vocab, bias=False)

    def forward(self, idx):
        pos = torch.arange(idx.size(1), device=idx.device)
        x = self.wte(idx) + self.wpe(pos)
        return self.lm_head(x + self.mlp(x))


iter_num = 0
model = Bigram(len(chars))
if cfg.resume:
    checkpoint = torch.load(os.path.join(out_dir, "ckpt.pt"), map_location="cpu")
    model.load_state_dict(checkpoint["model"])
    iter_num = checkpoint["iter_num"]

# optimizer
extra_args = dict(fused=True)
optimizer = torch.optim.AdamW(model.parameters(), lr=learning_rate, betas=betas, **extra_args)
if cfg.resume:
    optimizer.load_state_dict(checkpoint["optimizer"])
model.to(device)
checkpoint = None  # free up memory

while iter_num < cfg.max_iters:
    X, Y = get_batch(iter_num)
    logits = model(X)
    loss = F.cross_entropy(logits.view(-1, logits.size(-1)), Y.view(-1))
    loss.backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    print(f"iter {iter_num}: loss {loss.item():.4f}")
    iter_num += 1

os.makedirs(out_dir, exist_ok=True)
torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "iter_num": iter_num},
           os.path.join(out_dir, "ckpt.pt"))
