import torch
import torch.nn as nn

torch.manual_seed(3)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
X = torch.rand(64, 8)
Y = X.mean(1, keepdim=True)
net = nn.Linear(8, 1).to(device)
opt = torch.optim.SGD(net.parameters(), lr=0.05)
for ep in range(2):
    for i in range(0, len(X), 16):
        x, y = X[i:i+16].to(device), Y[i:i+16]
        loss = nn.functional.mse_loss(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        print(loss.item())
