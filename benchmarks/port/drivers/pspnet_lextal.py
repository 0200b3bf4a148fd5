import extractors
import numpy as np
import torch
from torch import nn, optim
from torch.autograd import Variable
from torch.optim.lr_scheduler import MultiStepLR
from torch.utils.data import DataLoader


class Scenes(torch.utils.data.Dataset):
    """Images, their segmentation, and the classes in them."""

    def __init__(self):
        draw = torch.Generator().manual_seed(0)
        self.labels = torch.randint(0, 18, (4, 8, 8), generator=draw).repeat_interleave(8, 1).repeat_interleave(8, 2)
        self.images = torch.randn(4, 3, 64, 64, generator=draw) + self.labels[:, None] / 9 - 1

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        present = torch.zeros(18)
        present[self.labels[index].flatten()] = 1
        return self.images[index], self.labels[index], present


torch.manual_seed(0)
weights = extractors.ResNet(extractors.BasicBlock, [2, 2, 2, 2]).state_dict()
extractors.model_zoo.load_url = lambda url: weights
from train import build_network

net, starting_epoch = build_network(None, "resnet18")
train_loader, class_weights = DataLoader(Scenes(), batch_size=2, shuffle=True), torch.linspace(0.5, 1.5, 18).cuda()
optimizer = optim.Adam(net.parameters(), lr=0.001)
scheduler = MultiStepLR(optimizer, milestones=[1])
for epoch in range(starting_epoch, starting_epoch + 2):
    seg_criterion = nn.NLLLoss(weight=class_weights)
    cls_criterion = nn.BCEWithLogitsLoss(weight=class_weights)
    epoch_losses = []
    net.train()
    for x, y, y_cls in train_loader:
        optimizer.zero_grad()
        x, y, y_cls = Variable(x).cuda(), Variable(y).cuda(), Variable(y_cls).cuda()
        out, out_cls = net(x)
        seg_loss, cls_loss = seg_criterion(out, y), cls_criterion(out_cls, y_cls)
        loss = seg_loss + cls_loss
        epoch_losses.append(loss.item())
        print("[{0}] loss = {1:0.5f} avg = {2:0.5f}".format(epoch + 1, loss.item(), np.mean(epoch_losses)))
        loss.backward()
        optimizer.step()
    scheduler.step()
    torch.save(net.state_dict(), "PSPNet_{}".format(epoch + 1))
