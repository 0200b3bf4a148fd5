import torch
import torch.nn as nn
import torch.nn.functional as F


class BlockDiagonal(nn.Module):
    def __init__(self, in_features, out_features, num_blocks):
        super(BlockDiagonal, self).__init__()
        self.blocks = nn.ModuleList([nn.Linear(in_features, out_features // num_blocks) for _ in range(num_blocks)])

    def forward(self, x):
        return torch.cat([block(x) for block in self.blocks], dim=-1)


class sLSTMblock(nn.Module):
    def __init__(self, x_example, depth):
        super().__init__()
        self.input_size = x_example.shape[2]
        self.ln = nn.LayerNorm(self.input_size)

        self.i_gate = BlockDiagonal(self.input_size, self.input_size, depth)
        self.f_gate = BlockDiagonal(self.input_size, self.input_size, depth)
        self.o_gate = BlockDiagonal(self.input_size, self.input_size, depth)
        self.z_gate = BlockDiagonal(self.input_size, self.input_size, depth)

        self.ri_gate = BlockDiagonal(self.input_size, self.input_size, depth)
        self.rz_gate = BlockDiagonal(self.input_size, self.input_size, depth)

        self.GN = nn.LayerNorm(self.input_size)
        self.proj = nn.Linear(self.input_size, self.input_size)

        self.init_states(x_example)

    def init_states(self, x):
        self.register_buffer('nt_1', torch.zeros(1, 1, x.shape[2]), persistent=False)
        self.register_buffer('ct_1', torch.zeros(1, 1, x.shape[2]), persistent=False)
        self.register_buffer('ht_1', torch.zeros(1, 1, x.shape[2]), persistent=False)
        self.register_buffer('mt_1', torch.zeros(1, 1, x.shape[2]), persistent=False)

    def forward(self, x):
        x = self.ln(x)
        ht_1 = self.ht_1

        i = torch.exp(self.i_gate(x) + self.ri_gate(ht_1))
        f = torch.exp(self.f_gate(x))
        m = torch.max(torch.log(f) + self.mt_1, torch.log(i))
        i = torch.exp(torch.log(i) - m)
        f = torch.exp(torch.log(f) + self.mt_1 - m)

        z = torch.tanh(self.z_gate(x) + self.rz_gate(ht_1))
        o = torch.sigmoid(self.o_gate(x))
        ct = f * self.ct_1 + i * z
        nt = f * self.nt_1 + i
        ht = o * (ct / nt)

        self.mt_1 = m.mean((0, 1), keepdim=True).detach()
        self.ct_1 = ct.mean((0, 1), keepdim=True).detach()
        self.nt_1 = nt.mean((0, 1), keepdim=True).detach()
        self.ht_1 = ht.mean((0, 1), keepdim=True).detach()
        return self.proj(F.gelu(self.GN(ht))) + x
