import argparse

import torch
from boxgrid import grid_anchors
from torch import nn


class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Conv2d(1, 4, 3, padding=1)
        self.offsets = nn.Conv2d(4, 2, 1)

    def forward(self, image):
        return self.offsets(self.features(image).relu()).flatten(2).transpose(1, 2)


def main(args):
    torch.manual_seed(args.seed)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = Detector().to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    anchors = grid_anchors(4, 4, stride=0.25, device=device).to(device)
    for step in range(args.steps):
        image = torch.rand(3, 1, 4, 4).to(device)
        goal = image.flatten(2).transpose(1, 2).expand(-1, -1, 2)
        boxes = anchors + model(image)
        loss = nn.functional.smooth_l1_loss(boxes, goal)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(step, loss.item())


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=5)
    main(parser.parse_args())
