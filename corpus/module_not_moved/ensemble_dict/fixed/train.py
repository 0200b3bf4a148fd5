# %%
import torch
import torch.nn as nn

torch.manual_seed(41)
device = "cuda" if torch.cuda.is_available() else "cpu"

# %%
encoder = nn.Sequential(nn.Linear(8, 16), nn.ReLU()).to(device)
heads = {"age": nn.Linear(16, 1).to(device), "sex": nn.Linear(16, 1).to(device)}
adapters = [nn.Linear(16, 16).to(device) for _ in range(2)]
params = list(encoder.parameters())
for head in heads.values():
    params += list(head.parameters())
for adapter in adapters:
    params += list(adapter.parameters())
optimizer = torch.optim.Adam(params, lr=2e-3)

# %%
for step in range(4):
    x = torch.randn(12, 8).to(device)
    age = x.sum(1, keepdim=True)
    sex = (x[:, :1] > 0).float()
    z = encoder(x)
    for adapter in adapters:
        z = z + torch.tanh(adapter(z))
    loss = nn.functional.mse_loss(heads["age"](z), age)
    loss = loss + nn.functional.binary_cross_entropy_with_logits(heads["sex"](z), sex)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
