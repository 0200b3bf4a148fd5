import argparse

import torch
import torch.nn.functional as F
from torch import nn


def cdiv(x: int, y: int) -> int:
    return (x + y - 1) // y


def block_positions(num_tokens: int, block_size: int, device: torch.device) -> torch.Tensor:
    """Start of the block that each token belongs to."""
    num_blocks = cdiv(num_tokens, block_size)
    starts = torch.arange(num_blocks, dtype=torch.int32, device=device) * block_size
    return starts.repeat_interleave(block_size)[:num_tokens]


def block_local_mask(cu_seqlens: torch.Tensor, num_tokens: int, block_size: int) -> torch.Tensor:
    """True where a token may look: its own sequence, and its own block in it."""
    token = torch.arange(num_tokens, device=cu_seqlens.device)
    seq = torch.searchsorted(cu_seqlens, token, right=True)
    block = block_positions(num_tokens, block_size, cu_seqlens.device)
    same_seq = seq[:, None] == seq[None, :]
    return same_seq & (block[:, None] == block[None, :])


def ragged_attention(q, k, v, cu_seqlens, block_size):
    scale = q.shape[-1] ** -0.5
    s = torch.einsum("qhd,khd->hqk", q, k) * scale
    mask = block_local_mask(cu_seqlens, q.shape[0], block_size)
    s = s.masked_fill(~mask, float("-inf"))
    return torch.einsum("hqk,khd->qhd", s.softmax(-1), v)


def rotary(x, freqs, block_size):
    offset = token_in_block(x.shape[0], block_size, x.device)
    angle = offset[:, None] * freqs[None, :]
    x1, x2 = x.chunk(2, dim=-1)
    cos, sin = angle.cos()[:, None], angle.sin()[:, None]
    return torch.cat((x1 * cos - x2 * sin, x1 * sin + x2 * cos), dim=-1)


def token_in_block(num_tokens, block_size, device):
    return torch.arange(num_tokens, dtype=torch.int32, device=device) - block_positions(num_tokens, block_size, device)


class Block(nn.Module):
    def __init__(self, dim, heads, block_size):
        super().__init__()
        self.qkv = nn.Linear(dim, 3 * dim)
        self.out = nn.Linear(dim, dim)
        self.heads, self.block_size = heads, block_size
        half = dim // heads // 2
        self.register_buffer("freqs", 1.0 / 100 ** (torch.arange(half) / half), persistent=False)

    def forward(self, x, cu_seqlens):
        q, k, v = self.qkv(x).view(x.shape[0], 3, self.heads, -1).unbind(1)
        q = rotary(q, self.freqs, self.block_size)
        k = rotary(k, self.freqs, self.block_size)
        return x + self.out(ragged_attention(q, k, v, cu_seqlens, self.block_size).flatten(1))


def main(args):
    torch.manual_seed(args.seed)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    block = Block(args.dim, 2, args.block_size).to(device)
    optim = torch.optim.Adam(block.parameters(), lr=1e-3)
    cu_seqlens = torch.tensor([0, 5, 12, 18], device=device)
    for step in range(4):
        x = torch.randn(18, args.dim).to(device)
        loss = F.mse_loss(block(x, cu_seqlens), x.roll(1, 0))
        optim.zero_grad()
        loss.backward()
        optim.step()
        print(f"{step=} loss={loss.item():.5f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--dim", type=int, default=16)
    parser.add_argument("--block-size", type=int, default=4)
    parser.add_argument("--seed", type=int, default=0)
    main(parser.parse_args())
