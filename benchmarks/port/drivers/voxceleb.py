import sys
import types

import torch
from torch import nn


class MelSpectrogram(nn.Module):
    def __init__(self, n_mels=40, **options):
        super().__init__()
        self.register_buffer("filters", torch.rand(n_mels, 200, generator=torch.Generator().manual_seed(0)))

    def forward(self, audio):
        return (self.filters @ audio.unfold(-1, 200, 100).transpose(1, 2)).square()


class Batches(list):
    dataset = ()


torchaudio = types.ModuleType("torchaudio")
torchaudio.transforms = types.SimpleNamespace(MelSpectrogram=MelSpectrogram)
sys.modules["torchaudio"] = torchaudio
from SpeakerNet import ModelTrainer, SpeakerNet, WrappedModel  # noqa: E402

torch.manual_seed(0)
for mixed in (False, True):
    net = SpeakerNet("ResNetSE34L", "adam", "angleproto", 2, nOut=16, n_mels=40, encoder_type="SAP", log_input=True)
    net = WrappedModel(net).cuda(0)
    options = {"lr": 0.001, "weight_decay": 0, "test_interval": 1, "max_epoch": 2, "lr_decay": 0.95}
    trainer = ModelTrainer(net, "adam", "steplr", 0, mixed, **options)
    batches = Batches([(torch.rand(3, 2, 1600), torch.arange(3)) for _ in range(2)])
    print(trainer.train_network(batches, verbose=False))
