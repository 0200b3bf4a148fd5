import torch
from torch import nn
from torch.utils.data import DataLoader

from spectra import Spectra
from tools.meters import AverageMeter


class ConvNet(nn.Module):
    def __init__(self, in_channels=3, classes=10):
        super().__init__()
        self.conv1 = nn.Conv2d(in_channels, 8, kernel_size=3, stride=2, padding=1)
        self.conv2 = nn.Conv2d(8, 16, kernel_size=3, stride=2, padding=1)
        self.fc = nn.Linear(16, classes)

    def forward(self, x):
        x = torch.relu(self.conv1(x))
        x = torch.relu(self.conv2(x))
        return self.fc(x.mean(dim=(2, 3)))


def main():
    torch.manual_seed(50)
    use_gpu = torch.cuda.is_available()
    device = torch.device("cuda" if use_gpu else "cpu")

    model = ConvNet()
    model = model.to(device)

    # our images have one channel: sum the colour filters into one
    old = model.conv1
    new = nn.Conv2d(1, old.out_channels, old.kernel_size, old.stride, old.padding)
    with torch.no_grad():
        new.weight.copy_(old.weight.sum(dim=1, keepdim=True))
        new.bias.copy_(old.bias)
    model._modules["conv1"] = new

    loader = DataLoader(Spectra(30), batch_size=10, shuffle=True)
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for epoch in range(2):
        meter = AverageMeter("loss")
        for image, target in loader:
            image = image.to(device)
            target = target.to(device)
            loss = criterion(model(image), target)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            meter.update(loss.item(), image.size(0))
        print(epoch, meter)


if __name__ == "__main__":
    main()
