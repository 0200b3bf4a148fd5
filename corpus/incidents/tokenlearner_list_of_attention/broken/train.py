import torch
from torch import nn

from tokens import TokenFuser, TokenLearner

torch.manual_seed(16)
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")

model = nn.Sequential(TokenLearner(S=4), TokenFuser(C=6, S=4))
model.to(DEVICE)
optim = torch.optim.Adam(model.parameters(), lr=1e-2)
lossf = nn.CrossEntropyLoss()

for step in range(4):
    x = torch.rand(8, 8, 8, 6)  # [B, H, W, C]
    y = torch.randint(0, 5, (8,))
    logits = model(x.to(DEVICE))
    loss = lossf(logits, y.to(DEVICE))
    optim.zero_grad()
    loss.backward()
    optim.step()
    print(f"step {step} loss {loss.item():.4f}")
