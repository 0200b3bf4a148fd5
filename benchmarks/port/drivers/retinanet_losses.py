import torch
from retinanet.anchors import Anchors
from retinanet.losses import FocalLoss
from retinanet.utils import BBoxTransform, ClipBoxes
from torch import nn

torch.manual_seed(0)
features = nn.Conv2d(3, 4, 3, padding=1).cuda()
anchors = Anchors()
focal = FocalLoss()
transform, clip = BBoxTransform(), ClipBoxes()
images = torch.rand(2, 3, 64, 64).cuda()
boxes = anchors(images)
count = boxes.shape[1]
classify = nn.Linear(4, 3).cuda()
regress = nn.Linear(4, 4).cuda()
optimizer = torch.optim.Adam([*features.parameters(), *classify.parameters(), *regress.parameters()])
annotations = torch.tensor([[[8.0, 8.0, 40.0, 40.0, 1.0]], [[-1.0, -1.0, -1.0, -1.0, -1.0]]]).cuda()
for step in range(3):
    maps = features(images).flatten(2).transpose(1, 2)
    cells = maps[:, torch.arange(count) % maps.shape[1]]
    scores, deltas = torch.sigmoid(classify(cells)), regress(cells)
    classification, regression = focal(scores, deltas, boxes, annotations)
    loss = classification.mean() + regression.mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
print(clip(transform(boxes, deltas.detach()), images).sum().item())
