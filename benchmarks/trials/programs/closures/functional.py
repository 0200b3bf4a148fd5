import torch
import torch.nn.functional as F


def init(key, sizes, device):
    g = torch.Generator().manual_seed(key)
    weights = []
    for a, b in zip(sizes, sizes[1:]):
        w = torch.randn(a, b, generator=g) / a**0.5
        weights.append((w.to(device).requires_grad_(), torch.zeros(b, device=device, requires_grad=True)))
    return weights


def forward(weights, x):
    for w, b in weights[:-1]:
        x = torch.relu(x @ w + b)
    w, b = weights[-1]
    return x @ w + b


def make_loss(prior, strength):
    def loss_fn(weights, x, y):
        nll = F.cross_entropy(forward(weights, x), y)
        penalty = sum(((w - p) ** 2).sum() for (w, _), p in zip(weights, prior))
        return nll + strength * penalty

    return loss_fn


def make_step(loss_fn, optimizer):
    flat = [t for group in optimizer.param_groups for t in group["params"]]

    def step(weights, batch):
        loss = loss_fn(weights, *batch)
        for t in flat:
            t.grad = None
        loss.backward()
        optimizer.step()
        return float(loss)

    return step


def experiment(seed=0, steps=9):
    device = torch.device("cuda") if torch.cuda.is_available() else torch.device("cpu")
    sizes = (4, 8, 3)
    weights = init(seed, sizes, device)
    prior = [w for w, _ in init(seed + 1, sizes, "cpu")]
    prior = [p.detach() for p in prior]
    step = make_step(make_loss(prior, 0.01), torch.optim.Adadelta([t for pair in weights for t in pair], lr=0.5))
    g = torch.Generator().manual_seed(seed + 2)
    losses = []
    for _ in range(steps):
        x = torch.randn(12, 4, generator=g)
        losses.append(step(weights, (x.to(device), x[:, :3].argmax(1).to(device))))
    return losses


if __name__ == "__main__":
    for seed in (0, 10):
        result = experiment(seed)
        print(f"seed {seed}: first {result[0]:.5f} last {result[-1]:.5f}")
