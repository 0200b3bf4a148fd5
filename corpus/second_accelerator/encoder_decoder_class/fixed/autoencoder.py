import torch
from torch import nn


class Split(nn.Module):
    def __init__(self, encoder_device, decoder_device):
        super().__init__()
        self.encoder_device = encoder_device
        self.decoder_device = decoder_device
        self.encoder = nn.Sequential(nn.Linear(8, 4), nn.ReLU()).to(self.encoder_device)
        self.decoder = nn.Linear(4, 8).to(self.decoder_device)

    def forward(self, x):
        x = x.to(self.encoder_device)
        code = self.encoder(x).to(self.decoder_device)
        return self.decoder(code) + x.to(code.device)


def main():
    torch.manual_seed(9)
    if torch.cuda.device_count() > 1:
        model = Split("cuda:0", "cuda:1")
    else:
        model = Split("cpu", "cpu")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for epoch in range(4):
        loss = model(torch.randn(10, 8)).abs().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"epoch {epoch}: {loss.item():.6f}")


if __name__ == "__main__":
    main()
