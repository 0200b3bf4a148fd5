import torch
import torch.nn as nn

from model import Encoder

torch.manual_seed(0)
device = "cuda" if torch.cuda.is_available() else "cpu"
encoder = Encoder().to(device)
decoder = nn.Linear(12, 6).to(device)
opt = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=1e-2)
for step in range(4):
    x = torch.randn(16, 6).to(device)
    loss = (decoder(encoder(x)) - x).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    print("pretrain", step, loss.item())
torch.save(encoder.state_dict(), "encoder.pt")
