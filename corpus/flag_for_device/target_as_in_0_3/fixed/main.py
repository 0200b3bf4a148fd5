import torch
import torch.nn as nn

torch.manual_seed(0)
use_cuda = torch.cuda.is_available()
model = nn.Linear(12, 4)
criterion = nn.CrossEntropyLoss()
if use_cuda:
    model.cuda()
    criterion.cuda()
optimizer = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9)
for i in range(4):
    input, target = torch.randn(8, 12), torch.randint(0, 4, (8,))
    if use_cuda:
        input = input.cuda(non_blocking=True)
        target = target.cuda(non_blocking=True)
    loss = criterion(model(input), target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(i, loss.item())
