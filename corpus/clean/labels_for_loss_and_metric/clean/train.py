import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
loader = DataLoader(TensorDataset(torch.randn(16, 4), torch.randint(0, 2, (16,))), batch_size=4)
net = nn.Linear(4, 2).to(device)
opt = torch.optim.SGD(net.parameters(), lr=0.05)
for x, y in loader:
    gpu_y = y.to(device)
    out = net(x.to(device))
    loss = nn.functional.cross_entropy(out, gpu_y)
    opt.zero_grad(); loss.backward(); opt.step()
    hits = (out.argmax(1).cpu() == y).sum().item()
    print(loss.item(), hits)
