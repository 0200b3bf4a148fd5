import torch
import torch.nn as nn


class LinearNorm(torch.nn.Module):
    def __init__(self, in_dim, out_dim, bias=True, w_init_gain='linear'):
        super(LinearNorm, self).__init__()
        self.linear_layer = torch.nn.Linear(in_dim, out_dim, bias=bias)
        torch.nn.init.xavier_uniform_(self.linear_layer.weight, gain=torch.nn.init.calculate_gain(w_init_gain))

    def forward(self, x):
        return self.linear_layer(x)


class Generator(nn.Module):
    """Content goes through a bottleneck, the speaker's embedding is added behind it."""

    def __init__(self, dim_neck, dim_emb, dim_mel):
        super(Generator, self).__init__()
        self.encoder = nn.LSTM(dim_mel + dim_emb, dim_neck, 1, batch_first=True)
        self.decoder = nn.LSTM(dim_neck + dim_emb, 16, 1, batch_first=True)
        self.out = LinearNorm(16, dim_mel)

    def forward(self, x, c_org, c_trg):
        emb = c_org.unsqueeze(1).expand(-1, x.size(1), -1)
        codes, _ = self.encoder(torch.cat((x, emb), dim=-1))
        if c_trg is None:
            return codes
        emb = c_trg.unsqueeze(1).expand(-1, x.size(1), -1)
        outputs, _ = self.decoder(torch.cat((codes, emb), dim=-1))
        return self.out(outputs)
