import torch
from torch import nn

torch.manual_seed(0)
cuda = torch.cuda.is_available()
model = nn.Linear(4, 2)
if cuda:
    model.cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(4):
    x, y = torch.randn(8, 4), torch.randint(0, 2, (8,))
    if cuda:
        x, y = x.cuda(non_blocking=True), y.cuda(non_blocking=cuda)
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
