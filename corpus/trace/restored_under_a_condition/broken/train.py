import io

import torch

from net import make
from offload import Lender


def fit(net, lender, device, steps=6):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
    for step in range(steps):
        x = torch.randn(7, 4).to(device)
        loss = (net(x) - x.prod(1, keepdim=True)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print("step", step, loss.item())
        if step % 3 == 2:
            with lender.lend("net", net) as copy:
                torch.save(copy.state_dict(), io.BytesIO())


if __name__ == "__main__":
    torch.manual_seed(16)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    net = make(4).to(device)
    fit(net, Lender(device), device)
