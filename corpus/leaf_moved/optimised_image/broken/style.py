import torch
import torch.nn as nn

torch.manual_seed(1)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
network = nn.Conv2d(1, 2, 3).to(device).requires_grad_(False)
wanted = network(torch.randn(1, 1, 6, 6).to(device))
image = torch.rand(1, 1, 6, 6, requires_grad=True).to(device)
optimizer = torch.optim.Adam([image], lr=0.1)
for step in range(5):
    loss = (network(image) - wanted).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
