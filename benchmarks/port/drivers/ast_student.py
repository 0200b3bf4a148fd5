import config
import torch
from model import Model

torch.manual_seed(0)
model = Model(nf=False, channels_hidden=8, n_blocks=1)
model.to(config.device)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for step in range(3):
    features = torch.rand(1, 304, 24, 24).to(config.device)
    depth = torch.rand(1, 1, 192, 192).to(config.device)
    output, jacobian = model(features, depth)
    loss = output.pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
