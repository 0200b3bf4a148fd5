import torch
from torch import nn
from torch.func import functional_call, grad_and_value

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.manual_seed(0)
model = nn.Linear(6, 2).to(device)
parameters = {name: value.detach().clone() for name, value in model.named_parameters()}


def loss_of(parameters, x, y):
    return nn.functional.mse_loss(functional_call(model, parameters, (x,)), y)


for step in range(4):
    x, y = torch.randn(8, 6, device=device), torch.randn(8, 2, device=device)
    gradients, loss = grad_and_value(loss_of)(parameters, x, y)
    parameters = {name: value - 0.1 * gradients[name] for name, value in parameters.items()}
    print(step, round(loss.item(), 5))
