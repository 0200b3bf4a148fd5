import numpy as np
import torch
from torch import nn

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Linear(5, 1).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
losses, numbers = [], np.zeros(4)
for step in range(4):
    x = torch.randn(10, 5).to(device)
    loss = (model(x) - x.mean(dim=1, keepdim=True)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.detach())
    numbers[step] = loss.item()
    print(f"{step} {loss:.4f} {float(loss)}")
print(torch.stack(losses).mean().item(), (sum(losses) / len(losses)).item(), np.mean(numbers))
print(np.mean([loss.item() for loss in losses]), torch.stack(losses).cpu().numpy().max())
