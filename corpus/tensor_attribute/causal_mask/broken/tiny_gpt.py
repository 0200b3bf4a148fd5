import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
device = "cuda" if torch.cuda.is_available() else "cpu"


class Attention(nn.Module):
    def __init__(self, dim, context):
        super().__init__()
        self.qkv = nn.Linear(dim, 3 * dim)
        self.out = nn.Linear(dim, dim)
        # lower triangle: a token sees itself and what came before
        self.mask = torch.tril(torch.ones(context, context)).view(1, context, context)

    def forward(self, x):
        steps = x.size(1)
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        scores = q @ k.transpose(1, 2) / x.size(2) ** 0.5
        scores = scores.masked_fill(self.mask[:, :steps, :steps] == 0, float("-inf"))
        return self.out(scores.softmax(-1) @ v)


class GPT(nn.Module):
    def __init__(self, vocabulary=11, dim=8, context=6):
        super().__init__()
        self.tokens = nn.Embedding(vocabulary, dim)
        self.blocks = nn.ModuleList([Attention(dim, context) for _ in range(2)])
        self.head = nn.Linear(dim, vocabulary)

    def forward(self, ids):
        x = self.tokens(ids)
        for block in self.blocks:
            x = x + block(x)
        return self.head(x)


model = GPT().to(device)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
for step in range(4):
    ids = torch.randint(0, 11, (6, 6)).to(device)
    loss = F.cross_entropy(model(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
