import os
import runpy
import sys
import types
import zlib

import numpy as np


class Transform:
    def __init__(self, **options):
        self.options = options


def load(path, sr):
    return np.random.RandomState(zlib.crc32(os.path.basename(path).encode())).randn(16000).astype(np.float32) * 0.1, sr


def dct(count, size):
    return np.cos(np.pi / size * (np.arange(size) + 0.5) * np.arange(count)[:, None]) * np.sqrt(2 / size)


def spectrum(data, sr, n_mels, hop_length, n_fft, **options):
    data = np.pad(data, n_fft // 2)
    frames = np.stack([data[start : start + n_fft] for start in range(0, len(data) - n_fft + 1, hop_length)])
    return (np.abs(np.fft.rfft(frames))[:, :n_mels] ** 2).T


def module(name, **content):
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(content)


module("chainmap", ChainMap=__import__("collections").ChainMap)
module("pcen", StreamingPCENTransform=Transform)
module(
    "librosa", core=types.SimpleNamespace(load=load), filters=types.SimpleNamespace(dct=dct),
    feature=types.SimpleNamespace(melspectrogram=spectrum),
)
for word in ("command", "random", "other"):
    os.makedirs(os.path.join("speech_dataset", word), exist_ok=True)
    for speaker in range(30):
        open(os.path.join("speech_dataset", word, f"speaker{speaker}_nohash_0.wav"), "w").close()
sys.argv = ["train.py", "--data_folder", "speech_dataset", "--n_epochs", "1", "--dev_every", "1", "--batch_size", "16", "--gpu_no", "0"]
runpy.run_module("utils.train", run_name="__main__")
