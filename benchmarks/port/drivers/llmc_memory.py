import torch
from utils import measure_cuda_memory

torch.manual_seed(0)
model = torch.nn.Linear(4, 2).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    with measure_cuda_memory() as memory:
        loss = model(torch.rand(3, 4).cuda()).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(step, loss.item(), memory.peak_consumed_memory >= 0)
