import torch
from denoiser import Denoiser
from torch import nn


class Vocoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.up = nn.ConvTranspose1d(80, 1, 16, stride=8)

    def forward(self, mel):
        return self.up(mel)


torch.manual_seed(0)
vocoder = Vocoder().cuda()
for mode in ("zeros", "normal"):
    denoiser = Denoiser(vocoder, filter_length=64, win_length=64, mode=mode)
    audio = denoiser(torch.rand(1, 512).cuda(), strength=0.2)
    print(mode, audio.shape, audio.sum().item())
