import torch
from torch import nn


class SignDescent(torch.optim.Optimizer):
    def __init__(self, params, lr=0.01):
        super().__init__(params, {"lr": lr})
        for group in self.param_groups:
            for p in group["params"]:
                self.state[p]["m"] = torch.zeros(p.shape, device=p.device)

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                m = self.state[p]["m"]
                m.mul_(0.9).add_(p.grad)
                p.sub_(group["lr"] * m.sign())


torch.manual_seed(0)
device = "cuda" if torch.cuda.is_available() else "cpu"
net = nn.Linear(4, 2)
start = {n: p.detach().clone() for n, p in net.named_parameters()}
net.to(device)
averages = {n: p.detach().clone() for n, p in net.named_parameters()}
optimizer = SignDescent(net.parameters())
for _ in range(4):
    loss = net(torch.randn(6, 4).to(device)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        for n, p in net.named_parameters():
            averages[n].lerp_(p, 0.1)
    print(loss.item())
print(sum((p.detach().cpu() - start[n]).norm().item() for n, p in net.named_parameters()))
