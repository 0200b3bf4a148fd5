class Batch:
    def __init__(self, x, y):
        self.x, self.y = x, y

    def cuda(self, wanted):
        if wanted:
            self.x, self.y = self.x.cuda(), self.y.cuda()
        return self


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
    batch = Batch(x, y).cuda(cuda)
    x, y = batch.x, batch.y
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
