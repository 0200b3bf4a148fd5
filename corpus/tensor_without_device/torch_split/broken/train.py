import torch
import torch.nn.functional as F

torch.manual_seed(1)
dev = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
data = torch.randn(60, 7)
target = (data[:, 0] > 0).long()
tr, va = torch.split(data, [40, 20])
ttr, tva = torch.split(target, [40, 20])
tr = tr.to(dev); ttr = ttr.to(dev)
lin = torch.nn.Linear(7, 2).to(dev)
opt = torch.optim.SGD(lin.parameters(), lr=.2)
for e in range(4):
    loss = F.cross_entropy(lin(tr), ttr)
    opt.zero_grad(); loss.backward(); opt.step()
    with torch.no_grad():
        acc = (lin(va).argmax(1) == tva).float().mean()
    print(e, loss.item(), acc.item())
