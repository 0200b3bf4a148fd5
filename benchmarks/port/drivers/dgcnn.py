from argparse import Namespace

import torch
from model import DGCNN
from util import cal_loss

torch.manual_seed(0)
options = Namespace(k=4, emb_dims=32, dropout=0.0)
device = torch.device("cuda")
model = DGCNN(options, output_channels=5).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
for step in range(3):
    points = torch.rand(2, 3, 24).to(device)
    labels = torch.randint(0, 5, (2,)).to(device)
    loss = cal_loss(model(points), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
