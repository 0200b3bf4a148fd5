import functools
import logging
import sys
import types

import torch
import yaml

yaml.load_all = functools.partial(yaml.load_all, Loader=yaml.SafeLoader)  # as in PyYAML 5
sys.modules["mir_eval"] = types.ModuleType("mir_eval")
sys.modules["mir_eval.separation"] = types.ModuleType("mir_eval.separation")
sys.modules["mir_eval.separation"].bss_eval_sources = None
from model.embedder import SpeechEmbedder
from utils import train
from utils.hparams import HParam


class Writer:
    def log_training(self, loss, step):
        print(step, loss)


def batches():
    for _ in range(3):
        yield [torch.rand(8, 24), torch.rand(8, 30)], torch.rand(2, 10, 9), torch.rand(2, 10, 9)
    raise StopAsyncIteration("no more batches")


torch.manual_seed(0)
with open("options.yaml", "w", encoding="utf-8") as file:
    file.write("""audio: {n_fft: 16, num_freq: 9, sample_rate: 16000, hop_length: 4, win_length: 16}
embedder: {num_mels: 8, n_fft: 16, emb_dim: 6, lstm_hidden: 8, lstm_layers: 2, window: 10, stride: 5}
model: {lstm_dim: 8, fc1_dim: 12, fc2_dim: 9}
train: {optimizer: adam, adam: 0.001, summary_interval: 1, checkpoint_interval: 1000}
""")
hp = HParam("options.yaml")
torch.save(SpeechEmbedder(hp).state_dict(), "embedder.pt")
args = types.SimpleNamespace(embedder_path="embedder.pt")
train.train(args, ".", None, batches(), None, Writer(), logging.getLogger(), hp, "")
