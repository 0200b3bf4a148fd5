import argparse

import torch
from torch import nn


class Recurrent(nn.Module):
    """Everything that it makes goes where its input is, whoever calls it."""

    def __init__(self, size):
        super().__init__()
        self.size = size
        self.cell = nn.GRUCell(size, size)
        self.out = nn.Linear(size, 1)

    def start(self, batch):
        weight = next(self.parameters())
        return weight.new_zeros(batch, self.size)

    def forward(self, x, state=None):
        if state is None:
            state = self.start(x.size(1))
        total = 0.0
        keep = torch.ones(x.size(1), 1, device=x.device)
        for t, frame in enumerate(x):
            state = self.cell(frame, state) * keep
            total = total + self.out(state).sum() / torch.tensor(float(t + 1))
        lengths = torch.full_like(state[:, 0], float(len(x)))
        return total / lengths.mean()


def main(args):
    torch.manual_seed(3)
    device = "cpu" if args.no_cuda or not torch.cuda.is_available() else "cuda"
    shadow = Recurrent(4)
    model = Recurrent(4).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    frames = torch.rand(5, 3, 4)
    print("before", shadow(frames).item())
    for step in range(args.steps):
        optimizer.zero_grad()
        loss = model(frames.to(device)).pow(2)
        loss.backward()
        optimizer.step()
        print("step", step, "loss", loss.item())
    print("after", shadow(frames).item())


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--no-cuda", action="store_true")
    parser.add_argument("--steps", type=int, default=3)
    main(parser.parse_args())
