import torch
from config import cfg
from model import HeadNet, ResPoseNet
from torch import nn
from torch.nn.parallel.data_parallel import DataParallel

torch.manual_seed(0)
cfg.depth_dim, cfg.output_shape = 4, (16, 16)
backbone = nn.Conv2d(3, 2048, 4, stride=16)
head = HeadNet(3)
head.init_weights()
model = DataParallel(ResPoseNet(backbone, head, 3)).cuda()
optimizer = torch.optim.Adam(model.parameters(), lr=0.001)
model.train()
for step in range(3):
    images = torch.rand(2, 3, 32, 32).cuda()
    target = {"coord": torch.rand(2, 3, 3).cuda(), "vis": torch.ones(2, 3, 1).cuda(), "have_depth": torch.ones(2, 1).cuda()}
    optimizer.zero_grad()
    loss = model(images, target).mean()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
