import torch.nn as nn
import torch.nn.functional as F


class Features(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Conv2d(4, 8, 3), nn.ReLU())

    def forward(self, x):
        return self.layers(x)


class PerceptualLoss:
    def __init__(self, layers):
        self.extractor = Features().layers[:layers].eval()
        for p in self.extractor.parameters():
            p.requires_grad = False

    def __call__(self, image, target):
        return F.mse_loss(self.extractor(image), self.extractor(target))
