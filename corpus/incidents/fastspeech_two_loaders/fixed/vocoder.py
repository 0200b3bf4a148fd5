import torch.nn as nn

import hparams as hp


class Generator(nn.Module):
    def __init__(self):
        super(Generator, self).__init__()
        self.conv_pre = nn.Conv1d(hp.n_mel_channels, 8, 3, padding=1)
        self.up = nn.ConvTranspose1d(8, 1, hp.hop_length, hp.hop_length)

    def forward(self, mel):
        return self.up(nn.functional.leaky_relu(self.conv_pre(mel), 0.2)).tanh()
