import torch.nn as nn
import torch.nn.functional as F


class PointNet(nn.Module):
    def __init__(self, num_classes):
        super().__init__()
        self.local = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 16))
        self.cls = nn.Linear(16, num_classes)

    def forward(self, points, label):
        feat = self.local(points).amax(dim=1)
        return {"loss_cls": F.cross_entropy(self.cls(feat), label), "loss_norm": 1e-3 * feat.pow(2).mean()}


def build_model(cfg):
    return PointNet(cfg.NUM_CLASSES)
