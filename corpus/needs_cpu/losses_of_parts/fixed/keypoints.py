import numpy as np
import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.manual_seed(11)


class KeypointLoss(nn.Module):
    def __init__(self, keypoints):
        super().__init__()
        self.keypoints = keypoints
        self.mse = nn.MSELoss()

    def forward(self, predicted, targets, visible):
        losses = []
        for i in range(self.keypoints):
            losses.append(self.mse(predicted[:, i] * visible, targets[:, i] * visible) / 2.0)
        loss_points = sum(losses)
        loss_visible = self.mse(predicted[:, -1], visible)
        return loss_points + loss_visible


net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 4)).to(device)
criterion = KeypointLoss(3)
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
for step in range(5):
    images = torch.randn(8, 6).to(device)
    targets = torch.rand(8, 3).to(device)
    visible = (torch.rand(8) > 0.3).float().to(device)
    loss = criterion(net(images), targets, visible)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
