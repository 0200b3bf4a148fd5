import math

import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, dim, heads, context):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, 3 * dim)
        self.proj = nn.Linear(dim, dim)
        self.mask = torch.tril(torch.ones(context, context)).bool()

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4)
        scores = q @ k.transpose(-2, -1) / math.sqrt(c // self.heads)
        scores = scores.masked_fill(~self.mask[:t, :t], float("-inf"))
        return self.proj((scores.softmax(-1) @ v).transpose(1, 2).reshape(b, t, c))


class LanguageModel(nn.Module):
    def __init__(self, vocab=12, dim=16, heads=2, context=8):
        super().__init__()
        self.token = nn.Embedding(vocab, dim)
        self.position = nn.Embedding(context, dim)
        self.norm = nn.LayerNorm(dim)
        self.attention = Attention(dim, heads, context)
        self.drop = nn.Dropout(0.1)
        self.head = nn.Linear(dim, vocab)

    def forward(self, ids):
        positions = torch.arange(ids.size(1))
        x = self.token(ids) + self.position(positions)
        x = x + self.attention(self.norm(x))
        return self.head(self.drop(x))
