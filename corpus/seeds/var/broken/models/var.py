import torch
import torch.nn as nn


class VAR(nn.Module):
    """Predicts token i+1 from the embeddings of tokens 0..i."""

    def __init__(self, vae_local, depth, embed_dim):
        super().__init__()
        self.V = vae_local.vocab_size
        self.vae_proxy = (vae_local,)
        self.word_embed = nn.Linear(vae_local.z_channels, embed_dim)
        self.blocks = nn.ModuleList([
            nn.Sequential(nn.LayerNorm(embed_dim), nn.Linear(embed_dim, embed_dim), nn.GELU())
            for _ in range(depth)
        ])
        self.head = nn.Linear(embed_dim, self.V)

    def init_weights(self):
        for p in self.parameters():
            if p.dim() > 1:
                nn.init.trunc_normal_(p.data, std=0.1)

    def forward(self, gt_idx):
        with torch.no_grad():
            x = self.vae_proxy[0].embedding(gt_idx[:, :-1])
        x = self.word_embed(x)
        for b in self.blocks:
            x = x + b(x)
        return self.head(x.cumsum(dim=1))
