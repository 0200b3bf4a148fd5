import torch.nn as nn

import hparams as hp


class FastSpeech2(nn.Module):
    """ FastSpeech2 """

    def __init__(self):
        super(FastSpeech2, self).__init__()
        self.encoder = nn.Embedding(hp.n_symbols, hp.hidden)
        self.decoder = nn.GRU(hp.hidden, hp.hidden, batch_first=True)
        self.mel_linear = nn.Linear(hp.hidden, hp.n_mel_channels)

    def forward(self, src_seq, d_target):
        x = self.encoder(src_seq).repeat_interleave(d_target, dim=1)
        x, _ = self.decoder(x)
        return self.mel_linear(x)
