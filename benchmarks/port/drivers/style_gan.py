from argparse import Namespace

import torch
import train
from model import Discriminator, StyledGenerator
from torch import nn, optim

torch.manual_seed(0)


class Images(torch.utils.data.Dataset):
    resolution = 8

    def __len__(self):
        return 4

    def __getitem__(self, index):
        return torch.rand(3, self.resolution, self.resolution)


class Bar:
    def __init__(self, steps):
        self.steps = steps

    def __iter__(self):
        return iter(self.steps[:2])

    def set_description(self, text):
        print(text)


add = torch.Tensor.add_
torch.Tensor.add_ = lambda self, *args, **options: (  # as in PyTorch 1.4
    add(self, args[1], alpha=args[0]) if len(args) == 2 else add(self, *args, **options)
)
train.sample_data = lambda images, batch, size=4: torch.utils.data.DataLoader(images, batch_size=2)
train.tqdm = Bar
train.code_size, train.n_critic = 512, 1
generator = nn.DataParallel(StyledGenerator(512, n_mlp=2)).cuda()
discriminator = nn.DataParallel(Discriminator(from_rgb_activate=True)).cuda()
train.g_running = StyledGenerator(512, n_mlp=2).cuda()
train.g_running.train(False)
train.g_optimizer = optim.Adam(generator.module.parameters(), lr=0.001, betas=(0.0, 0.99))
train.d_optimizer = optim.Adam(discriminator.parameters(), lr=0.001, betas=(0.0, 0.99))
train.accumulate(train.g_running, generator.module, 0)
for loss in ("wgan-gp", "r1"):
    options = Namespace(
        init_size=8, max_size=8, batch={}, batch_default=2, lr={}, ckpt=None, phase=100, loss=loss, mixing=loss == "r1", gen_sample={}
    )
    train.train(options, Images(), generator, discriminator)
