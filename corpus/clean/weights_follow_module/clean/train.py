import torch
from torch import nn

torch.manual_seed(0)
two = torch.cuda.device_count() > 1
first = torch.device("cuda:0" if two else "cpu")
second = torch.device("cuda:1" if two else "cpu")


class Half(nn.Module):
    def __init__(self, width, out):
        super().__init__()
        self.layer = nn.Linear(width, out)

    def forward(self, x):
        return self.layer(x.to(next(self.parameters()).device))


front, back = Half(6, 12).to(first), Half(12, 3).to(second)
optimizer = torch.optim.SGD([*front.parameters(), *back.parameters()], lr=0.1)

for step in range(4):
    x, y = torch.randn(8, 6), torch.randint(0, 3, (8,))
    out = back(front(x).tanh())
    loss = nn.functional.cross_entropy(out, y.to(out.device))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
