import torch
import torch.nn as nn


class Head(nn.Module):
    def __init__(self, channels, anchors):
        super().__init__()
        self.convs = nn.ModuleList([nn.Conv2d(channels, 2 * len(a), 1) for a in anchors])
        self.anchors = [torch.tensor(a, dtype=torch.float32) for a in anchors]

    def forward(self, maps):
        boxes = []
        for x, conv, anchors in zip(maps, self.convs, self.anchors):
            n = x.shape[0]
            raw = conv(x).mean(dim=(2, 3)).view(n, -1, 2)
            boxes.append(raw.exp() * anchors)
        return torch.cat(boxes, dim=1)


use_cuda = torch.cuda.is_available()
device = torch.device("cuda" if use_cuda else "cpu")
torch.manual_seed(4)
backbone = nn.Conv2d(3, 5, 3, padding=1).to(device)
head = Head(5, [[(1.0, 2.0), (2.0, 1.0)], [(3.0, 3.0)]]).to(device)
params = list(backbone.parameters()) + list(head.parameters())
optimizer = torch.optim.Adam(params, lr=1e-2)
images = torch.rand(6, 3, 8, 8)
wanted = torch.rand(6, 3, 2) + 0.5
for step in range(4):
    feature = backbone(images.to(device))
    boxes = head([feature, nn.functional.max_pool2d(feature, 2)])
    loss = (boxes - wanted.to(device)).abs().sum() / 6
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"step {step} loss {loss.item():.4f}")
