import torch
from torch import nn

torch.manual_seed(0)
device = "cuda" if torch.cuda.is_available() else "cpu"
X = torch.randn(40, 4); y = X.sum(1, keepdim=True)
X_train, y_train = X[:30].to(device), y[:30].to(device)
X_test, y_test = X[30:], y[30:]
net = nn.Linear(4, 1).to(device)
opt = torch.optim.SGD(net.parameters(), 0.1)
for _ in range(4):
    loss = (net(X_train) - y_train).abs().mean()
    opt.zero_grad(); loss.backward(); opt.step()
    with torch.inference_mode():
        preds = net(X_test.to(device)).cpu()
        print(loss.item(), (preds - y_test).abs().mean().item())
