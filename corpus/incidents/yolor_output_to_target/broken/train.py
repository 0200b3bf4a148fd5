import argparse

import torch
import torch.nn as nn

import test

parser = argparse.ArgumentParser()
parser.add_argument('--epochs', type=int, default=300)
parser.add_argument('--device', default='', help='cuda device, i.e. 0 or 0,1,2,3 or cpu')
opt = parser.parse_args()


class Darknet(nn.Module):
    def __init__(self, nc=2):
        super(Darknet, self).__init__()
        self.backbone = nn.Sequential(nn.Conv2d(3, 8, 3, 4, 1), nn.SiLU(), nn.Conv2d(8, 5 + nc, 1))

    def forward(self, x):
        return self.backbone(x).flatten(2).transpose(1, 2)


torch.manual_seed(113)
device = torch.device('cpu' if opt.device == 'cpu' or not torch.cuda.is_available() else 'cuda:0')
model = Darknet().to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.937, nesterov=True)
BCE = nn.BCEWithLogitsLoss()
dataloader = [(torch.randint(256, (3, 3, 8, 8), dtype=torch.uint8), torch.rand(3, 4, 7).round()) for _ in range(2)]

for epoch in range(opt.epochs):
    model.train()
    for i, (imgs, targets) in enumerate(dataloader):
        imgs = imgs.to(device, non_blocking=True).float() / 255.0
        loss = BCE(model(imgs), targets.to(device))
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        print('%g/%g  loss %.4g' % (epoch, opt.epochs - 1, loss.item()))
    print('detections:', test.test(model, dataloader))
