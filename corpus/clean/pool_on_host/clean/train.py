import torch
from torch import nn

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
pool = torch.randn(50, 4)
labels = (pool[:, 0] > 0).long()
chosen = list(range(10))
net = nn.Linear(4, 2).to(device)
opt = torch.optim.SGD(net.parameters(), 0.1)
for rnd in range(3):
    x, y = pool[chosen].to(device), labels[chosen].to(device)
    loss = nn.functional.cross_entropy(net(x), y)
    opt.zero_grad(); loss.backward(); opt.step()
    with torch.no_grad():
        entropy = net(pool.to(device)).softmax(1).cpu()
    score = (entropy * labels.unsqueeze(1)).sum(1)
    chosen += score.topk(3).indices.tolist()
    print(loss.item(), len(chosen))
