"""A noise predictor for 2-d points, trained with Adagrad."""
import argparse

import torch
import torch.nn as nn


class NoisePredictor(nn.Module):
    def __init__(self, hidden=24):
        super().__init__()
        self.inp = nn.Linear(3, hidden)
        self.out = nn.Linear(hidden, 2)

    def forward(self, x, t):
        return self.out(torch.nn.functional.silu(self.inp(torch.cat([x, t[:, None]], dim=1))))


class EMA:
    """Running average of the weights; remembers names only, copies at the first update."""

    def __init__(self, decay):
        self.decay = decay
        self.shadow = {}

    @torch.no_grad()
    def update(self, model):
        for name, p in model.named_parameters():
            if name in self.shadow:
                self.shadow[name].lerp_(p, 1 - self.decay)
            else:
                self.shadow[name] = p.clone()


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=6)
    parser.add_argument("--fp16", action="store_true")
    return parser.parse_args()


def main():
    args = parse()
    torch.manual_seed(19)
    device = torch.device("cuda") if torch.cuda.is_available() else torch.device("cpu")

    model = NoisePredictor()
    ema = EMA(decay=0.9)

    model = model.to(device)  # last, so that everything above stays on the host
    # Adagrad: the gradients of early time steps are much larger
    optimizer = torch.optim.Adagrad(model.parameters(), lr=0.03)

    # decays to a tenth of the rate
    scheduler = torch.optim.lr_scheduler.LinearLR(
        optimizer,
        start_factor=1.0,
        end_factor=0.1,
        total_iters=args.steps,
    )

    for step in range(args.steps):
        x0 = torch.randn(32, 2)
        t = torch.rand(32)
        eps = torch.randn(32, 2)
        xt = (1 - t[:, None]) * x0 + t[:, None] * eps
        pred = model(xt.to(device), t.to(device))
        loss = (pred - eps.to(device)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
        ema.update(model)
        print("step", step, "loss", loss.item())


if __name__ == "__main__":
    main()
