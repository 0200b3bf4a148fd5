import torch
from torch import nn

from learner import Learner


def build(num_classes):
    model = nn.Sequential(nn.Linear(5, 10), nn.ReLU(), nn.Linear(10, 1000))
    model[-1] = nn.Linear(10, num_classes)
    return model


torch.manual_seed(0)
learner = Learner(build(4))
learner.model.append(nn.LogSoftmax(dim=1))
x = torch.randn(30, 5)
learner.fit(x, x[:, :4].argmax(1), steps=5)
