import argparse
import runpy
import sys
import types

import torch
import torchvision
from torch import nn


class Encoder(nn.Module):
    def __init__(self, num_classes=1000, zero_init_residual=False):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(3, 8, 3, 2, 1, bias=False), nn.BatchNorm2d(8)
        self.conv2, self.bn2 = nn.Conv2d(8, 16, 3, 2, 1, bias=False), nn.BatchNorm2d(16)
        self.fc = nn.Linear(16, num_classes)

    def forward(self, x):
        x = torch.relu(self.bn1(self.conv1(x)))
        return self.fc(torch.relu(self.bn2(self.conv2(x))).mean((2, 3)))


def resnet50(**options):
    return Encoder(**options)


class Images(torch.utils.data.Dataset):
    def __init__(self, root, transform=None):
        generator = torch.Generator().manual_seed(len(root))
        self.images = torch.rand(12, 3, 16, 16, generator=generator)
        self.labels = torch.randint(0, 10, (12,), generator=generator)

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        return self.images[index], int(self.labels[index])


class Crops(Images):
    def __getitem__(self, index):
        image = self.images[index]
        return [image, image.flip(2) + 0.1 * torch.randn(3, 16, 16)], int(self.labels[index])


torchvision.models = types.ModuleType("torchvision.models")
torchvision.models.resnet50 = resnet50
sys.modules["torchvision.models"] = torchvision.models
sys.modules["torchvision.datasets"].ImageFolder = Images

import main_simsiam
import simsiam.builder

torch.manual_seed(0)
args = argparse.Namespace(gpu=0, lr=0.05, epochs=2, print_freq=1)
model = simsiam.builder.SimSiam(resnet50, 32, 8).cuda()
criterion = nn.CosineSimilarity(dim=1).cuda(args.gpu)
groups = [{"params": model.encoder.parameters(), "fix_lr": False}, {"params": model.predictor.parameters(), "fix_lr": True}]
optimizer = torch.optim.SGD(groups, args.lr, momentum=0.9, weight_decay=1e-4)
loader = torch.utils.data.DataLoader(Crops("train"), batch_size=6, shuffle=True, drop_last=True)
for epoch in range(args.epochs):
    main_simsiam.adjust_learning_rate(optimizer, args.lr, epoch, args)
    main_simsiam.train(loader, model, criterion, optimizer, epoch, args)
weights = {"module." + name: value for name, value in model.state_dict().items()}
main_simsiam.save_checkpoint({"epoch": 2, "arch": "resnet50", "state_dict": weights}, is_best=False, filename="simsiam.pth.tar")

options = ["--gpu", "0", "--seed", "0", "-j", "0", "--epochs", "1", "-b", "6", "-p", "1", "--lr", "30"]
sys.argv = ["main_lincls.py", *options, "--pretrained", "simsiam.pth.tar", "images"]
runpy.run_path("main_lincls.py", run_name="__main__")
