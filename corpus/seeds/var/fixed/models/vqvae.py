import torch
import torch.nn as nn


class VQVAE(nn.Module):
    def __init__(self, vocab_size, z_channels):
        super().__init__()
        self.vocab_size = vocab_size
        self.z_channels = z_channels
        self.embedding = nn.Embedding(vocab_size, z_channels)
        for p in self.parameters():
            p.requires_grad_(False)

    def img_to_idx(self, inp):
        """inp: B, L, C -> nearest code of each of the L vectors"""
        return torch.cdist(inp, self.embedding.weight[None]).argmin(dim=-1)
