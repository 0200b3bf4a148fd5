import torch
from torch import nn

torch.manual_seed(2)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Linear(3, 1).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
views = [torch.randn(4, 3) for _ in range(2)]
for step in range(3):
    total = 0.0
    for view in views:
        view = view.to(device)
        total = total + model(view).pow(2).mean()
    optimizer.zero_grad()
    total.backward()
    optimizer.step()
    print(step, total.item(), sum(view.mean().item() for view in views))
