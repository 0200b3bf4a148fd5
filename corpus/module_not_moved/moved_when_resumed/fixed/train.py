import argparse
import os

import torch
import torch.nn as nn

ap = argparse.ArgumentParser()
ap.add_argument("--ckpt", default="last.pt")
args = ap.parse_args()
torch.manual_seed(31)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

model = nn.Sequential(nn.Linear(5, 10), nn.GELU(), nn.Linear(10, 5))
if os.path.exists(args.ckpt):
    model.load_state_dict(torch.load(args.ckpt, map_location=device))
    model = model.to(device)
    print("resumed from", args.ckpt)
model = model.to(device)

optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for it in range(4):
    batch = torch.randn(16, 5).to(device)
    loss = ((model(batch) - batch) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(it, loss.item())
