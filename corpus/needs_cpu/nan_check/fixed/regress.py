import numpy as np
import torch
import torch.nn as nn

torch.manual_seed(4)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.GRU(3, 6, batch_first=True).to(device)
readout = nn.Linear(6, 1).to(device)
params = list(model.parameters()) + list(readout.parameters())
opt = torch.optim.Adam(params, lr=5e-3)
loss_fn = nn.SmoothL1Loss()

for step in range(6):
    series = torch.randn(8, 10, 3).to(device)
    target = series.mean(dim=(1, 2)).unsqueeze(1)
    hidden, _ = model(series)
    loss = loss_fn(readout(hidden[:, -1]), target)
    if np.isnan(loss.item()):
        raise RuntimeError("the loss is not a number")
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(step, loss.item())
