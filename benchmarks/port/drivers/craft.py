import os
import runpy
import sys
import types

import numpy as np
import torch
from torch import nn


def module(name, **content):
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(content)


def vgg16_bn(pretrained):
    layers, inputs = [], 3
    for outputs in (64, 64, 0, 128, 128, 0, 256, 256, 256, 0, 512, 512, 512, 0, 512, 512, 512, 0):
        if outputs:
            layers += [nn.Conv2d(inputs, outputs, 3, padding=1), nn.BatchNorm2d(outputs), nn.ReLU(inplace=True)]
            inputs = outputs
        else:
            layers.append(nn.MaxPool2d(2, 2))
    return types.SimpleNamespace(features=nn.Sequential(*layers))


def resize(image, size, interpolation):
    values = torch.tensor(image).permute(2, 0, 1)[None].float()
    return nn.functional.interpolate(values, size=size[::-1], mode="bilinear")[0].permute(1, 2, 0).numpy()


def threshold(values, least, top, kind):
    return least, np.where(values > least, top, 0).astype(np.float32)


def components(values, connectivity):
    """Find no component."""
    return 1, np.zeros(values.shape, np.int32), np.zeros((1, 5), np.int32), np.zeros((1, 2))


module("torchvision")
module("torchvision.models", vgg16_bn=vgg16_bn)
module("torchvision.models.vgg", model_urls={"vgg16_bn": "https://localhost/vgg16_bn.pth"})
sys.modules["torchvision"].models = sys.modules["torchvision.models"]
module("PIL", Image=None)
module("skimage")
module("skimage.io", imread=lambda name: np.random.RandomState(len(name)).randint(0, 256, (40, 64, 3)).astype(np.uint8))
sys.modules["skimage"].io = sys.modules["skimage.io"]
module(
    "cv2", INTER_LINEAR=1, COLORMAP_JET=2, resize=resize, threshold=threshold, connectedComponentsWithStats=components,
    applyColorMap=lambda image, colors: np.stack([image] * 3, 2), imwrite=lambda name, image: print(name, image.shape),
)
from craft import CRAFT
from refinenet import RefineNet

torch.manual_seed(0)
net = CRAFT().cuda()
refine_net = RefineNet().cuda()
criterion = nn.MSELoss().cuda()
optimizer = torch.optim.Adam([*net.parameters(), *refine_net.parameters()], lr=1e-4)
for step in range(3):
    images = torch.randn(2, 3, 64, 64).cuda()
    maps = torch.rand(2, 32, 32, 2).cuda()
    lines = torch.rand(2, 32, 32, 1).cuda()
    scores, features = net(images)
    loss = criterion(scores, maps) + criterion(refine_net(scores, features), lines)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
os.makedirs("weights", exist_ok=True)
torch.save(net.state_dict(), "weights/craft_mlt_25k.pth")
torch.save(refine_net.state_dict(), "weights/craft_refiner_CTW1500.pth")

os.makedirs("pictures", exist_ok=True)
open("pictures/sign.png", "w").close()
sys.argv = ["test.py", "--test_folder", "pictures", "--refine"]
runpy.run_path("test.py", run_name="__main__")
