import torch
from torch import nn


class DifferentiableWorld(nn.Module):
    def __init__(self, img_size, txt_size=6, n_blocks=3):
        super().__init__()
        self.img_size = img_size
        self.txt_size = txt_size
        self.bkg = nn.Parameter(torch.rand(3, txt_size, txt_size))
        self.alpha_logit = nn.Parameter(torch.zeros(n_blocks))
        self.register_buffer("rows", torch.arange(img_size[0]) * txt_size // img_size[0])
        self.register_buffer("blocks", torch.rand(n_blocks, 3, *img_size))
        self.cur_epoch = 0

    @property
    def alpha(self):
        return self.alpha_logit.sigmoid()

    def get_background(self):
        H, W = self.img_size
        last = self.txt_size - 1
        shade = torch.linspace(1, 0.5, self.txt_size)[self.rows]
        uvs = torch.stack([self.rows / last, torch.zeros(H)], -1)
        sky = self.bkg.mean(2)[:, self.rows] * shade
        return (sky + 0.1 * uvs.sum(-1))[..., None].expand(3, H, W)

    def forward(self, imgs):
        rec = self.get_background()[None]
        for alpha, block in zip(self.alpha, self.blocks):
            rec = (1 - alpha) * rec + alpha * block
        loss = (imgs - rec).abs().mean()
        return loss + 0.01 * self.alpha.sum()

    def step(self):
        self.cur_epoch += 1


def create_model(cfg, img_size):
    return DifferentiableWorld(img_size, **cfg["model"])
