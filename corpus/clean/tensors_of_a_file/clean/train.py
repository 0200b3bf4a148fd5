import torch
from safetensors import safe_open
from safetensors.torch import load_file
from torch import nn

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Linear(4, 2)
model.load_state_dict(load_file("head.safetensors"))
model.to(device)
scale = load_file("scale.safetensors", device=str(device))["scale"]
with safe_open("scale.safetensors", framework="pt") as f:
    shown = f.get_tensor("scale").tolist()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(4):
    loss = model(torch.randn(6, 4).to(device) * scale).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(loss.item())
print(shown)
