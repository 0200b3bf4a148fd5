import math

import torch
from torch import nn


# Efficient implementation equivalent to the following:
def scaled_dot_product_attention(query, key, value, attn_mask=None, dropout_p=0.0,
                                 is_causal=False, scale=None, enable_gqa=False) -> torch.Tensor:
    L, S = query.size(-2), key.size(-2)
    scale_factor = 1 / math.sqrt(query.size(-1)) if scale is None else scale
    attn_bias = torch.zeros(L, S, dtype=query.dtype, device=query.device)
    if is_causal:
        assert attn_mask is None
        temp_mask = torch.ones(L, S, dtype=torch.bool, device=query.device).tril(diagonal=0)
        attn_bias.masked_fill_(temp_mask.logical_not(), float("-inf"))

    if attn_mask is not None:
        if attn_mask.dtype == torch.bool:
            attn_bias.masked_fill_(attn_mask.logical_not(), float("-inf"))
        else:
            attn_bias = attn_mask + attn_bias

    if enable_gqa:
        key = key.repeat_interleave(query.size(-3) // key.size(-3), -3)
        value = value.repeat_interleave(query.size(-3) // value.size(-3), -3)

    attn_weight = query @ key.transpose(-2, -1) * scale_factor
    attn_weight += attn_bias
    attn_weight = torch.softmax(attn_weight, dim=-1)
    attn_weight = torch.dropout(attn_weight, dropout_p, train=True)
    return attn_weight @ value


class CausalSelfAttention(nn.Module):
    def __init__(self, n_embd: int, n_head: int, n_kv: int):
        super().__init__()
        self.q = nn.Linear(n_embd, n_embd)
        self.kv = nn.Linear(n_embd, 2 * n_kv * (n_embd // n_head))
        self.n_head, self.n_kv = n_head, n_kv

    def forward(self, x):
        B, T, C = x.shape
        q = self.q(x).view(B, T, self.n_head, -1).transpose(1, 2)
        k, v = self.kv(x).view(B, T, 2, self.n_kv, -1).permute(2, 0, 3, 1, 4)
        y = scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        return y.transpose(1, 2).reshape(B, T, C)


class TinyLM(nn.Module):
    def __init__(self, vocab: int = 20, n_embd: int = 16):
        super().__init__()
        self.wte = nn.Embedding(vocab, n_embd)
        self.attn = CausalSelfAttention(n_embd, 4, 2)
        self.head = nn.Linear(n_embd, vocab)

    def forward(self, idx):
        x = self.wte(idx)
        return self.head(x + self.attn(x))


def main():
    torch.manual_seed(2)
    dev = "cuda" if torch.cuda.is_available() else "cpu"
    data = torch.randint(20, (400,))
    model = TinyLM().to(dev)
    opt = torch.optim.AdamW(model.parameters(), lr=3e-3)
    for it in range(5):
        at = torch.randint(len(data) - 13, (8,)).tolist()
        x = torch.stack([data[i:i + 12] for i in at]).to(dev)
        y = torch.stack([data[i + 1:i + 13] for i in at]).to(dev)
        loss = nn.functional.cross_entropy(model(x).flatten(0, 1), y.flatten())
        opt.zero_grad(set_to_none=True)
        loss.backward()
        opt.step()
        print(f"iter {it}: loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
