import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(6, 2)

    def forward(self, x):
        return self.layer(x)


x = torch.ones(1, 6, device=device)
scripted = torch.jit.script(Net().to(device))
scripted.save("scripted.pt")
traced = torch.jit.trace(Net().to(device), x)
torch.jit.save(traced, "traced.pt")
for module, path in ((scripted, "scripted.pt"), (traced, "traced.pt")):
    loaded = torch.jit.load(path, map_location=device)
    print(path, round(module(x).sum().item(), 5), round(loaded(x).sum().item(), 5))
