import json
import random
import runpy
import sys
import types
import warnings

import numpy as np
import torch

warnings.simplefilter("ignore")


class Spectrogram(torch.nn.Module):
    """TacotronSTFT of the submodule, with frames that are simply folded."""

    def __init__(self, filter_length, hop_length, win_length, sampling_rate, mel_fmin, mel_fmax):
        super().__init__()
        self.hop = hop_length
        self.basis = torch.randn(80, hop_length, generator=torch.Generator().manual_seed(0)) / hop_length**0.5

    def mel_spectrogram(self, sound):
        frames = torch.nn.functional.pad(sound, (0, self.hop)).unfold(1, self.hop, self.hop)
        return torch.log(torch.clamp((self.basis @ frames.transpose(1, 2)).abs(), min=1e-5))


def module(name, **content):
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(content)


def read(path):
    draw = np.random.RandomState(int(path[5]))
    return 22050, (8000 * np.sin(np.arange(6000) * draw.uniform(0.05, 0.2)) + 100 * draw.randn(6000)).astype(np.int16)


random.seed(0)
np.random.seed(0)
torch.manual_seed(0)
module("scipy")
module("scipy.io")
module("scipy.io.wavfile", read=read)
module("tacotron2")
module("tacotron2.layers", TacotronSTFT=Spectrogram)
with open("config.json", encoding="utf-8") as file:
    config = json.load(file)
config["train_config"].update(fp16_run=False, epochs=2, batch_size=2, iters_per_checkpoint=2)
config["data_config"].update(training_files="sounds.txt", segment_length=2048)
config["waveglow_config"].update(n_flows=6, WN_config={"n_layers": 2, "n_channels": 16, "kernel_size": 3})
with open("small.json", "w", encoding="utf-8") as file:
    json.dump(config, file)
with open("sounds.txt", "w", encoding="utf-8") as file:
    file.writelines(f"sound{number}.wav\n" for number in range(6))
sys.argv = ["train.py", "-c", "small.json"]
runpy.run_path("train.py", run_name="__main__")
