import torch
from torch import nn
from torch.func import functional_call, grad, vmap

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.manual_seed(0)
model = nn.Linear(6, 2).to(device)
parameters = {name: value.detach() for name, value in model.named_parameters()}


def loss_of(parameters, x, y):
    return nn.functional.mse_loss(functional_call(model, parameters, (x.unsqueeze(0),)).squeeze(0), y)


x, y = torch.randn(4, 6, device=device), torch.randn(4, 2, device=device)
gradients = vmap(grad(loss_of), (None, 0, 0))(parameters, x, y)
print({name: round(value.norm().item(), 5) for name, value in gradients.items()})
