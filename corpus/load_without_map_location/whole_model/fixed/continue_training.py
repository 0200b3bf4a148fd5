import torch
from torch import nn, optim

from forecaster import waves


def main():
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = torch.load("forecaster.pt", map_location=device, weights_only=False)
    model = model.to(device)
    criterion = nn.MSELoss()
    optimizer = optim.LBFGS(model.parameters(), lr=0.5, max_iter=3)
    data = waves(12).to(device)
    inputs, target = data[:, :-1], data[:, 1:]

    for epoch in range(3):
        def closure():
            optimizer.zero_grad()
            loss = criterion(model(inputs), target)
            loss.backward()
            return loss

        loss = optimizer.step(closure)
        print("epoch", epoch, "loss", loss.item())


if __name__ == "__main__":
    main()
