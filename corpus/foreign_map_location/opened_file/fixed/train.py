import argparse

import torch
from safetensors import safe_open
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
args = parser.parse_args()

torch.manual_seed(0)
memory = {}
with safe_open("memory.safetensors", framework="pt", device=args.device) as f:
    for key in f.keys():
        memory[key] = f.get_tensor(key)

encoder = nn.Linear(6, 4).to(args.device)
optimizer = torch.optim.Adam(encoder.parameters(), lr=0.05)
for step in range(4):
    x = torch.randn(5, 6).to(args.device)
    scores = encoder(x) @ memory["keys"].t()
    read = scores.softmax(-1) @ memory["values"]
    loss = (read - 0.5).pow(2).mean() + scores.pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
