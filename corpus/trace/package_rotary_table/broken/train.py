import torch
from rotatory import rotate
from torch import nn


class Attention(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.qkv = nn.Linear(dim, 3 * dim)

    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, -1)
        q, k = rotate(q), rotate(k)
        return nn.functional.scaled_dot_product_attention(q, k, v)


def main():
    torch.manual_seed(90)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = Attention(8).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for step in range(4):
        x = torch.randn(3, 6, 8).to(device)
        loss = (model(x) - x).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(step, loss.item())


main()
