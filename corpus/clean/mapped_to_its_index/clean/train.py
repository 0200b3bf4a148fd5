import io

import torch
from torch import nn

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Linear(4, 2).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
buffer = io.BytesIO()
torch.save({"mean": torch.zeros(4), "model": nn.Linear(4, 2).state_dict()}, buffer)
buffer.seek(0)
where = {"cuda:0": "cuda:0"} if torch.cuda.is_available() else "cpu"
mean = torch.load(buffer, map_location=where)["mean"].to(device)
for step in range(4):
    x, y = torch.randn(8, 4), torch.randint(0, 2, (8,))
    x, y = x.to(device) - mean, y.to(device)
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
