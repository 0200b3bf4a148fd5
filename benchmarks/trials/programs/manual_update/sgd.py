"""Stochastic gradient descent by hand with momentum and Polyak averaging, without torch.optim."""
import torch

torch.manual_seed(27)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


class Momentum:
    def __init__(self, shapes, mu):
        self.mu = mu
        self.buffers = [torch.zeros(shape) for shape in shapes]

    def apply(self, params, grads, lr):
        for p, g, b in zip(params, grads, self.buffers):
            b.mul_(self.mu).add_(g)
            p.sub_(lr * b)


def predict(params, x):
    w1, b1, w2 = params
    return torch.tanh(x @ w1 + b1) @ w2


params = [torch.randn(3, 8) * 0.3, torch.zeros(8), torch.randn(8, 1) * 0.3]
params = [p.to(device).requires_grad_() for p in params]
average = [p.detach().clone() for p in params]
momentum = Momentum([p.shape for p in params], 0.8)
x = torch.randn(30, 3).to(device)
y = x.square().sum(1, keepdim=True).sqrt()

for step in range(10):
    loss = (predict(params, x) - y).square().mean()
    grads = torch.autograd.grad(loss, params)
    with torch.no_grad():
        momentum.apply(params, grads, 0.05)
        for a, p in zip(average, params):
            a.lerp_(p, 0.2)
    if step % 3 == 0:
        print(step, format(loss.item(), ".5f"))

with torch.no_grad():
    print("averaged", format((predict(average, x) - y).square().mean().item(), ".5f"))
torch.save(average, "average.pt")
