import torch
import torch.nn as nn
from safetensors.torch import load_file


def main():
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    statistics = load_file("statistics.safetensors")
    net = nn.Linear(5, 2).to(device)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(4):
        x = torch.randn(8, 5).to(device)
        x = (x - statistics["mean"]) / statistics["std"]
        loss = net(x).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(loss.item())


if __name__ == "__main__":
    main()
