import ast
import os
import runpy
import sys
import types

import librosa.filters
import numpy as np
import torch
import unidecode


def module(name, **content):
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(content)


class Settings(types.SimpleNamespace):
    def parse(self, text):
        for part in text.split(","):
            name, value = part.split("=")
            setattr(self, name, type(getattr(self, name))(ast.literal_eval(value)))


class Writer:
    def __init__(self, folder):
        self.folder = folder

    def add_scalar(self, name, value, step):
        print(step, name, float(value))

    def add_histogram(self, name, values, step):
        pass

    def add_image(self, name, image, step, dataformats):
        print(step, name, image.shape)


class Loader(torch.utils.data.DataLoader):
    def __init__(self, dataset, num_workers, **options):
        super().__init__(dataset, **options)


def sound(self, name):
    draw = np.random.RandomState(len(name))
    frames = draw.randint(8, 13)
    return torch.tensor(draw.randn(self.stft.n_mel_channels, frames)).float(), torch.tensor(draw.rand(1, frames)).float()


training = types.SimpleNamespace(HParams=Settings)
module("tensorflow", contrib=types.SimpleNamespace(training=training), compat=types.SimpleNamespace(v1=types.SimpleNamespace(logging=types.SimpleNamespace(info=print))))
module("tensorboardX", SummaryWriter=Writer)
plots = ("plot_alignment_to_numpy", "plot_spectrogram_to_numpy")
module("plotting_utils", **{name: lambda image: image for name in plots}, plot_gate_outputs_to_numpy=lambda truth, found: np.stack([truth, found]))
unidecode.unidecode = str
librosa.filters.mel = lambda rate, length, count, low, high: np.ones((count, length // 2 + 1), np.float32)
torch.utils.data.DataLoader = Loader
import data_utils

data_utils.TextMelLoader.get_mel_and_f0 = sound
for name, count in (("train", 4), ("val", 2)):
    with open(f"{name}.txt", "w", encoding="utf-8") as file:
        for number in range(count):
            file.write("a" * (number + 1) + f".wav|{'Printing, in the ' * (number + 1)}only sense|{number % 2}\n")
with open("dictionary", "w", encoding="latin-1") as file:
    file.write("ONLY  OW1 N L IY0\nSENSE  S EH1 N S\n")
np.random.seed(0)
sizes = {
    "epochs": 2, "iters_per_checkpoint": 2, "batch_size": 2, "training_files": "'train.txt'", "validation_files": "'val.txt'",
    "cmudict_path": "'dictionary'", "filter_length": 64, "hop_length": 16, "win_length": 64, "n_mel_channels": 16, "symbols_embedding_dim": 16,
    "encoder_embedding_dim": 16, "decoder_rnn_dim": 16, "prenet_dim": 8, "attention_rnn_dim": 16, "attention_dim": 8, "postnet_embedding_dim": 16,
    "speaker_embedding_dim": 4, "ref_enc_gru_size": 8, "token_embedding_size": 16, "n_speakers": 2,
}
os.makedirs("results", exist_ok=True)
sys.argv = ["train.py", "-o", "results", "-l", "logs", "--hparams", ",".join(f"{name}={value}" for name, value in sizes.items())]
runpy.run_path("train.py", run_name="__main__")
