import torch
from torch import nn

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
w = torch.zeros(3, device=device, requires_grad=True)
v = nn.Parameter(torch.ones(3).to(device))
u = torch.randn(3).to(device).requires_grad_()
optimizer = torch.optim.SGD([w, v, u], lr=0.1)
for step in range(4):
    x = torch.randn(5, 3).to(device)
    loss = (x * (w + v + u)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item(), w.grad.norm().item())
