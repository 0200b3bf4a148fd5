import sys
import types

import numpy as np
import torch

spectrum = torch.stft
torch.stft = lambda *args, **options: torch.view_as_real(spectrum(*args, return_complex=True, **options))  # as in PyTorch 1.6


class Writer:
    def __init__(self, folder):
        self.folder = folder

    def add_scalar(self, name, value, step):
        print(step, name, value)

    def add_audio(self, name, audio, step, sample_rate):
        print(step, name, audio.shape)


class Audio(torch.utils.data.Dataset):
    def __init__(self, files, length, sampling_rate, augment=True):
        self.audio = torch.rand(4 if augment else 1, 1, 8192)

    def __len__(self):
        return len(self.audio)

    def __getitem__(self, index):
        return self.audio[index]


torch.manual_seed(0)
sys.modules["torch.utils.tensorboard"] = types.ModuleType("torch.utils.tensorboard")
sys.modules["torch.utils.tensorboard"].SummaryWriter = Writer
sys.modules["librosa.filters"] = types.ModuleType("librosa.filters")
sys.modules["librosa.filters"].mel = lambda *args: np.random.RandomState(0).rand(args[2], 513)
from scripts import train  # noqa: E402

train.AudioDataset = Audio
train.DataLoader = lambda audio, batch_size, num_workers=0: torch.utils.data.DataLoader(audio, batch_size=batch_size)
train.save_sample = lambda path, rate, audio: print(path.name, audio.sum().item())
sys.argv = ["train.py", "--save_path", "logs", "--data_path", ".", "--epochs", "1", "--batch_size", "2", "--ngf", "4"]
train.main()
