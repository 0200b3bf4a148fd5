import json
import os
import sys
import types

import numpy as np
import torch


class Writer:
    def __init__(self, log_dir):
        self.folder = log_dir

    def add_scalar(self, name, value, step):
        print(step, name, float(value))

    def add_image(self, name, image, step, dataformats):
        print(step, name, image.shape)

    def add_audio(self, name, audio, step, sample_rate):
        print(step, name, audio.shape)


def read(path):
    number = int(os.path.basename(path)[:-4])
    return 22050, (np.random.RandomState(number).randn(os.path.getsize(path) // 2) * 3000).astype(np.int16)


def maximum_path(paths, values, heights, widths):
    """As monotonic_align/core.pyx, which is compiled."""
    for path, value, height, width in zip(paths, values, heights, widths, strict=True):
        for y in range(height):
            for x in range(max(0, width + y - height), min(width, y + 1)):
                current = -1e9 if x == y else value[y - 1, x]
                previous = (0.0 if y == 0 else -1e9) if x == 0 else value[y - 1, x - 1]
                value[y, x] += max(previous, current)
        index = width - 1
        for y in range(height - 1, -1, -1):
            path[y, index] = 1
            if index != 0 and (index == y or value[y - 1, index] < value[y - 1, index - 1]):
                index -= 1


def module(name, **content):
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(content)


module("torch.utils.tensorboard", SummaryWriter=Writer)
module("scipy.io")
module("scipy.io.wavfile", read=read)
module("librosa.filters", mel=lambda rate, size, count, *edges: np.random.RandomState(0).rand(count, size // 2 + 1))
module("monotonic_align.monotonic_align")
module("monotonic_align.monotonic_align.core", maximum_path_c=maximum_path)
spectrum = torch.stft
torch.stft = lambda *args, **options: torch.view_as_real(spectrum(*args, return_complex=True, **options))  # as in PyTorch 1.6
import train
import utils

utils.plot_spectrogram_to_numpy = utils.plot_alignment_to_numpy = np.asarray
train.DataLoader = lambda data, num_workers, **options: torch.utils.data.DataLoader(data, **options)
for number in range(6):
    with open(f"{number}.wav", "wb") as file:
        file.write(bytes(2 * 256 * (40 + 2 * number)))
for part, numbers in (("train", range(4)), ("val", range(4, 6))):
    with open(f"{part}.txt", "w", encoding="utf-8") as file:
        file.write("".join(f"{number}.wav|some text {number * 'a'}\n" for number in numbers))
config = {
    "train": {
        "log_interval": 200, "eval_interval": 1000, "seed": 1234, "epochs": 1, "learning_rate": 2e-4, "betas": [0.8, 0.99], "eps": 1e-9,
        "batch_size": 2, "fp16_run": False, "lr_decay": 0.999875, "segment_size": 2048, "init_lr_ratio": 1, "warmup_epochs": 0, "c_mel": 45,
        "c_kl": 1.0,
    },
    "data": {
        "training_files": "train.txt", "validation_files": "val.txt", "text_cleaners": ["english_cleaners2"], "max_wav_value": 32768.0,
        "sampling_rate": 22050, "filter_length": 1024, "hop_length": 256, "win_length": 1024, "n_mel_channels": 80, "mel_fmin": 0.0,
        "mel_fmax": None, "add_blank": True, "n_speakers": 0, "cleaned_text": True,
    },
    "model": {
        "inter_channels": 8, "hidden_channels": 8, "filter_channels": 16, "n_heads": 2, "n_layers": 1, "kernel_size": 3, "p_dropout": 0.1,
        "resblock": "1", "resblock_kernel_sizes": [3], "resblock_dilation_sizes": [[1, 3, 5]], "upsample_rates": [8, 8, 2, 2],
        "upsample_initial_channel": 32, "upsample_kernel_sizes": [16, 16, 4, 4], "n_layers_q": 3, "use_spectral_norm": False,
    },
}
os.makedirs("configs", exist_ok=True)
with open(os.path.join("configs", "ljs_base.json"), "w", encoding="utf-8") as file:
    json.dump(config, file)
os.environ |= {"MASTER_ADDR": "localhost", "MASTER_PORT": "8000"}
sys.argv = ["train.py", "-c", os.path.join("configs", "ljs_base.json"), "-m", "ljs_base"]
train.run(0, 1, utils.get_hparams())
