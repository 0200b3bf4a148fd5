import torch
from cache import IntermediatesCache

torch.manual_seed(0)
model = torch.nn.Linear(4, 2).cuda()
batches = [{"x": torch.rand(3, 4)} for batch in range(3)]
cache = IntermediatesCache.from_dataloader(batches, model.weight.device, torch.device("cpu"))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for batch in cache.iter_prefetch():
    loss = model(batch["x"]).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(loss.item())
