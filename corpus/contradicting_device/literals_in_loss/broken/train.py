import argparse

import torch
from torch import nn

from loss import DetectionLoss


class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(12, 16)
        self.boxes = nn.Linear(16, 4)
        self.scores = nn.Linear(16, 3)

    def forward(self, x):
        x = torch.relu(self.body(x))
        return [(self.boxes(x), self.scores(x))]


def select_device(name):
    return torch.device(name if torch.cuda.is_available() else 'cpu')


if __name__ == '__main__':
    parser = argparse.ArgumentParser()
    parser.add_argument('--device', default='cuda:0')
    opt = parser.parse_args()
    torch.manual_seed(5)
    device = select_device(opt.device)
    model = Detector().to(device)
    compute_loss = DetectionLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    for i in range(3):
        images = torch.randn(6, 12).to(device)
        targets = torch.cat([torch.rand(6, 4), torch.randint(0, 3, (6, 1)).float()], 1).to(device)
        loss = compute_loss(model(images), targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(i, loss.item())
