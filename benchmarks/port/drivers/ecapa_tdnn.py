import runpy
import sys

import dataLoader
import torch
import torchaudio.transforms


class Mel(torch.nn.Module):
    def __init__(self, sample_rate, n_fft, win_length, hop_length, f_min, f_max, window_fn, n_mels):
        super().__init__()
        self.sizes = n_fft, hop_length, win_length
        self.register_buffer("window", window_fn(win_length))
        self.register_buffer("bands", torch.rand(n_mels, n_fft // 2 + 1, generator=torch.Generator().manual_seed(0)))

    def forward(self, sound):
        found = torch.stft(sound, *self.sizes, window=self.window, return_complex=True)
        return torch.matmul(self.bands, found.abs() ** 2)


class Speech(torch.utils.data.Dataset):
    def __init__(self, num_frames, n_class, **options):
        self.length, self.classes = num_frames * 160 + 240, n_class

    def __len__(self):
        return 4

    def __getitem__(self, index):
        return torch.rand(self.length, generator=torch.Generator().manual_seed(index)), index % self.classes


torch.manual_seed(0)
torchaudio.transforms.MelSpectrogram = Mel
dataLoader.train_loader = Speech
sys.argv = [
    "trainECAPAModel.py", "--num_frames", "30", "--max_epoch", "2", "--batch_size", "2", "--n_cpu", "0", "--test_step", "5", "--C", "64",
    "--n_class", "3", "--save_path", "exps",
]
try:
    runpy.run_path("trainECAPAModel.py", run_name="__main__")
except SystemExit:
    print("trained")
