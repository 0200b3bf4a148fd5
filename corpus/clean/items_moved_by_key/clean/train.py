import torch
from torch import nn

torch.manual_seed(1)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Linear(3, 2).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(4):
    batch = {"x": torch.randn(5, 3), "y": torch.randint(0, 2, (5,))}
    for key, value in batch.items():
        value = value.to(device)
        batch[key] = value
    weights = [torch.ones(2), torch.ones(2)]
    for index, weight in enumerate(weights):
        weights[index] = weight.to(device)
    loss = (nn.functional.cross_entropy(model(batch["x"]), batch["y"]) * weights[0] * weights[1]).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
