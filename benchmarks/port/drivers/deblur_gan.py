import types

import torch
import train
from models import losses, models


class Photos(torch.utils.data.Dataset):
    def __len__(self):
        return 2

    def __getitem__(self, index):
        sharp = torch.rand(3, 64, 64) * 2 - 1
        return {"a": (sharp + sharp.roll(1, 2)) / 2, "b": sharp}


def vgg19(pretrained):
    layers, before = [], 3
    for number in (2, 2, 4, 4, 4):
        for _ in range(number):
            layers += [torch.nn.Conv2d(before, 8, 3, padding=1), torch.nn.ReLU(inplace=True)]
            before = 8
        layers.append(torch.nn.MaxPool2d(2, 2))
    return types.SimpleNamespace(features=torch.nn.Sequential(*layers))


def normalize(mean, std):
    return lambda image: (image - image.new_tensor(mean).view(3, 1, 1)) / image.new_tensor(std).view(3, 1, 1)


torch.manual_seed(0)
losses.models, losses.transforms = types.SimpleNamespace(vgg19=vgg19), types.SimpleNamespace(Normalize=normalize)
models.SSIM = lambda found, truth, multichannel: 0.5
for discriminator, loss in (("double_gan", "ragan-ls"), ("patch_gan", "wgan-gp")):
    config = {
        "experiment_desc": "small", "warmup_num": 0, "num_epochs": 1, "train_batches_per_epoch": 2, "val_batches_per_epoch": 1,
        "model": {
            "g_name": "resnet", "blocks": 1, "d_name": discriminator, "d_layers": 3, "content_loss": "perceptual", "adv_lambda": 0.001,
            "disc_loss": loss, "learn_residual": True, "norm_layer": "instance", "dropout": True,
        },
        "optimizer": {"name": "adam", "lr": 0.0001}, "scheduler": {"name": "linear", "start_epoch": 50, "min_lr": 1e-7},
    }
    loaders = [torch.utils.data.DataLoader(Photos(), batch_size=1, shuffle=True, drop_last=True) for _ in range(2)]
    train.Trainer(config, *loaders).train()
