import torch.nn as nn


class BasicBlock(nn.Module):
    def __init__(self, planes):
        super().__init__()
        self.conv1 = nn.Conv2d(planes, planes, 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(planes, track_running_stats=False)

    def forward(self, x):
        return x + nn.functional.relu(self.bn1(self.conv1(x)))


class ResNet(nn.Module):
    def __init__(self, planes, num_classes):
        super().__init__()
        self.layers = nn.Sequential(nn.Conv2d(3, planes, 3, padding=1), BasicBlock(planes), BasicBlock(planes))
        self.fc = nn.Linear(planes, num_classes)

    def forward(self, x):
        return self.fc(self.layers(x).mean(dim=(2, 3)))


def resnet_tiny(num_classes=1000):
    return ResNet(6, num_classes)
