import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(4, 2)
if torch.cuda.is_available():
    model = model.cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(4):
    x = torch.randn(8, 4).to(model.weight.device)
    y = torch.zeros(8, 2, device=model.weight.device)
    loss = ((model(x) - y) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
