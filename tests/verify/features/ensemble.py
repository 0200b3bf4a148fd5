import copy

import torch
from torch import nn
from torch.func import functional_call, stack_module_state, vmap

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.manual_seed(0)
models = [nn.Linear(6, 2).to(device) for _ in range(3)]
parameters, buffers = stack_module_state(models)
base = copy.deepcopy(models[0]).to("meta")
x = torch.randn(4, 6, device=device)
with torch.no_grad():
    results = vmap(lambda p, b: functional_call(base, (p, b), (x,)))(parameters, buffers)
print(tuple(results.shape), round(results.norm().item(), 5))
