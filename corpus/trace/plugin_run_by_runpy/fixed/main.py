import pathlib
import runpy

import torch
import torch.nn as nn


def load_plugins(folder):
    for path in sorted(pathlib.Path(folder).glob("*.py")):
        space = runpy.run_path(str(path), init_globals={"torch": torch})
        yield space["NAME"], space["apply"]


def main():
    torch.manual_seed(0)
    steps = dict(load_plugins(pathlib.Path(__file__).parent / "plugins"))
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    print("plugins:", ", ".join(steps))
    net = nn.Sequential(nn.Linear(10, 20), nn.ReLU(), nn.Linear(20, 10)).to(device)
    optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)
    for it in range(5):
        clean = torch.randn(6, 10).to(device)
        noisy = clean
        for name, apply in steps.items():
            noisy = apply(noisy, it)
        loss = (net(noisy) - clean).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(it, loss.item())


if __name__ == "__main__":
    main()
