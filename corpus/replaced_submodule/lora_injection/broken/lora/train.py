import argparse

import torch
import torch.nn as nn

from layers import inject_lora, trainable


class Attention(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.q = nn.Linear(dim, dim)
        self.k = nn.Linear(dim, dim)
        self.v = nn.Linear(dim, dim)
        self.o = nn.Linear(dim, dim)

    def forward(self, x):
        out = nn.functional.scaled_dot_product_attention(self.q(x), self.k(x), self.v(x))
        return self.o(out)


class Denoiser(nn.Module):
    def __init__(self, dim=8):
        super().__init__()
        self.inp = nn.Linear(4, dim)
        self.attn = Attention(dim)
        self.out = nn.Linear(dim, 4)

    def forward(self, x):
        h = self.inp(x)
        return self.out(h + self.attn(h))


def main(args):
    torch.manual_seed(args.seed)
    device = torch.device(f"cuda:{args.gpu}" if torch.cuda.is_available() else "cpu")
    model = Denoiser()
    model.requires_grad_(False)
    model.to(device)

    n = inject_lora(model.attn, rank=args.rank, targets=("q", "v"))
    print(f"replaced {n} layers")

    optimizer = torch.optim.AdamW(trainable(model), lr=args.lr)
    gen = torch.Generator().manual_seed(args.seed)
    for step in range(args.max_steps):
        clean = torch.randn(4, 6, 4, generator=gen).to(device)
        noise = torch.randn(4, 6, 4, generator=gen).to(device)
        loss = (model(clean + noise) - noise).pow(2).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        print(f"step {step} loss {loss.item():.6f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--rank", type=int, default=4)
    parser.add_argument("--gpu", type=int, default=0)
    parser.add_argument("--lr", type=float, default=0.02)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--max_steps", type=int, default=4)
    main(parser.parse_args())
