import torch
from functorch.compile import aot_function, aot_module, make_boxed_func, nop
from torch import nn

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


def compiler(graph, inputs):
    return make_boxed_func(graph.forward)


def energy(x, w):
    return torch.tanh(x @ w).square().sum(1) + torch.arange(x.shape[0], device=x.device)


compiled = aot_function(energy, fw_compiler=compiler, bw_compiler=compiler)
module = aot_module(nn.Sequential(nn.Linear(4, 4), nn.ReLU()).to(device), nop)
weight = nn.Parameter(torch.randn(4, 3, device=device))
optimizer = torch.optim.SGD([weight, *module.parameters()], lr=0.1)
for _ in range(3):
    loss = compiled(module(torch.randn(8, 4, device=device)), weight).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"{loss.item():.6f}", loss.device.type == device.type)
