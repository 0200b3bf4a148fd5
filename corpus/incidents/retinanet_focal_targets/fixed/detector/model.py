import numpy as np
import torch
import torch.nn as nn


class Anchors(nn.Module):
    def forward(self, image):
        steps = np.arange(0.0, 8.0, 2.0, dtype=np.float32)
        ys, xs = np.meshgrid(steps, steps, indexing='ij')
        boxes = np.stack([xs, ys, xs + 4, ys + 4], axis=-1).reshape(1, -1, 4)
        boxes = torch.from_numpy(boxes)
        if image.is_cuda:
            boxes = boxes.cuda()
        return boxes


class Tiny(nn.Module):
    def __init__(self, num_classes):
        super(Tiny, self).__init__()
        self.body = nn.Conv2d(3, 8, 3, stride=2, padding=1)
        self.cls = nn.Conv2d(8, num_classes, 1)
        self.reg = nn.Conv2d(8, 4, 1)
        self.anchors = Anchors()

    def forward(self, img_batch):
        x = torch.relu(self.body(img_batch))
        classification = self.cls(x).sigmoid().permute(0, 2, 3, 1).flatten(1, 2)
        regression = self.reg(x).permute(0, 2, 3, 1).flatten(1, 2)
        return classification, regression, self.anchors(img_batch)
