# %%
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(2)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
x = torch.randn(40, 6)
y = (x[:, 0] > 0).long()

# %%
model = nn.Sequential(nn.Linear(6, 10), nn.ReLU(), nn.Linear(10, 2))
model.to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.2)

# %%
def estimate(model, steps):
    fisher = {}
    for name, weight in model.named_parameters():
        fisher[name] = torch.zeros(weight.size())
    for start in range(0, steps * 10, 10):
        model.zero_grad()
        loss = F.cross_entropy(model(x[start : start + 10].to(device)), y[start : start + 10].to(device))
        loss.backward()
        for name, weight in model.named_parameters():
            fisher[name] += weight.grad.pow(2) / steps
        optimizer.step()
        print(loss.item())
    return fisher


# %%
print(sorted(estimate(model, 4)))
