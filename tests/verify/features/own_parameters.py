"""A model whose parameters() returns a list of its weights, as meta-learners do."""

import torch
from torch import nn
from torch.nn.functional import cross_entropy, linear

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.manual_seed(0)


class Learner(nn.Module):
    def __init__(self):
        super().__init__()
        self.vars = nn.ParameterList([nn.Parameter(torch.randn(2, 4)), nn.Parameter(torch.zeros(2))])

    def forward(self, x, weights=None):
        weight, bias = self.vars if weights is None else weights
        return linear(x, weight, bias)

    def parameters(self):
        return self.vars


model = Learner().to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(3):
    x, y = torch.randn(8, 4, device=device), torch.randint(2, (8,), device=device)
    gradients = torch.autograd.grad(cross_entropy(model(x), y), list(model.parameters()), create_graph=True)
    fast = [weight - 0.1 * gradient for weight, gradient in zip(model.parameters(), gradients, strict=True)]
    loss = cross_entropy(model(x, fast), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(loss.item())
