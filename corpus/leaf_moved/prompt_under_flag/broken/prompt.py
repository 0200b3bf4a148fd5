import torch
from torch import nn

use_cuda = torch.cuda.is_available()
torch.manual_seed(3)
backbone = nn.Linear(4, 2)
for parameter in backbone.parameters():
    parameter.requires_grad = False
prompt = torch.randn(3, 4, requires_grad=True)
if use_cuda:
    backbone.cuda()
    prompt = prompt.cuda()
optimizer = torch.optim.SGD([prompt], lr=0.5)
for step in range(4):
    loss = backbone(prompt).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
