import torch
from torch import nn
from torch.func import functional_call, grad, vmap

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1)).to(device)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)


def loss_of(parameters, x, y):
    return nn.functional.mse_loss(functional_call(model, parameters, (x,)), y)


def adapted_loss(parameters, x, y, x_query, y_query):
    gradients = grad(loss_of)(parameters, x, y)
    adapted = {name: value - 0.1 * gradients[name] for name, value in parameters.items()}
    return loss_of(adapted, x_query, y_query)


for step in range(4):
    x, x_query = (torch.randn(3, 5, 4, device=device) for _ in range(2))
    y, y_query = x.sum(2, keepdim=True), x_query.sum(2, keepdim=True)
    losses = vmap(adapted_loss, (None, 0, 0, 0, 0))(dict(model.named_parameters()), x, y, x_query, y_query)
    loss = losses.mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, round(loss.item(), 5))
