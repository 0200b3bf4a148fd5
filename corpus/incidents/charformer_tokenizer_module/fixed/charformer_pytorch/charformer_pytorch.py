import math

import torch
import torch.nn.functional as F
from torch import nn

# helpers


def exists(val):
    return val is not None


def next_divisible_length(seqlen, multiple):
    return math.ceil(seqlen / multiple) * multiple


def pad_to_multiple(tensor, multiple, *, seq_dim, value=0.):
    seqlen = tensor.shape[seq_dim]
    length = next_divisible_length(seqlen, multiple)
    if length == seqlen:
        return tensor
    return F.pad(tensor, (*((0,) * 2 * (tensor.ndim - seq_dim - 1)), 0, length - seqlen), value=value)


# main class


class GBST(nn.Module):
    def __init__(self, *, num_tokens, dim, max_block_size=4, downsample_factor=2):
        super().__init__()
        self.token_emb = nn.Embedding(num_tokens, dim)
        self.pos_conv = nn.Conv1d(dim, dim, 3, padding=1, groups=dim)
        self.score_fn = nn.Linear(dim, 1)
        self.max_block_size = max_block_size
        self.downsample_factor = downsample_factor

    def forward(self, x, mask=None):
        b, n, ds = *x.shape, self.downsample_factor

        x = self.token_emb(x)
        x = self.pos_conv(x.transpose(1, 2)).transpose(1, 2)
        if exists(mask):
            x = x.masked_fill(~mask.unsqueeze(-1), 0.)

        block_reprs = []
        for size in range(1, self.max_block_size + 1):
            padded = pad_to_multiple(x, size, seq_dim=1)
            pooled = padded.view(b, -1, size, x.shape[-1]).mean(dim=2)
            block_reprs.append(pooled.repeat_interleave(size, dim=1)[:, :n])
        block_reprs = torch.stack(block_reprs, dim=2)

        scores = self.score_fn(block_reprs).softmax(dim=2)
        x = (block_reprs * scores).sum(dim=2)

        x = pad_to_multiple(x, ds, seq_dim=1).view(b, -1, ds, x.shape[-1]).mean(dim=2)
        if exists(mask):
            mask = pad_to_multiple(mask, ds, seq_dim=1, value=False).view(b, -1, ds).any(dim=-1)
        return x, mask
