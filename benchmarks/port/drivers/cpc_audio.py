import random
from multiprocessing.pool import ThreadPool
from pathlib import Path

import numpy as np
import torch
from cpc import dataset, train


def load(item):
    speaker, path = item
    draw = torch.Generator().manual_seed(sum(map(ord, path.stem)))
    return speaker, path.stem, torch.rand(9000, generator=draw)


def find(*options, find=dataset.findAllSeqs, **others):
    sounds, speakers = find(*options, **others)
    return sorted(sounds, key=lambda sound: str(sound[1])), speakers


class Information:
    num_frames = length = 9000


random.seed(0)
np.random.seed(0)
dataset.loadFile = load
train.findAllSeqs = find
dataset.Pool = ThreadPool
dataset.torchaudio.info = lambda path: (Information,)
for speaker in "ab":
    Path("sounds", speaker).mkdir(parents=True, exist_ok=True)
    for each in range(3):
        Path("sounds", speaker, f"{speaker}{'x' * each}.wav").touch()
for part, names in (("train", ("a", "ax", "b", "bx")), ("val", ("axx", "bxx"))):
    Path(f"{part}.txt").write_text("\n".join(names) + "\n", encoding="utf-8")
train.main([
    "--pathDB", "sounds", "--file_extension", ".wav", "--pathTrain", "train.txt", "--pathVal", "val.txt", "--ignore_cache",
    "--n_process_loader", "1", "--nGPU", "1", "--batchSizeGPU", "2", "--nEpoch", "1", "--sizeWindow", "5120", "--hiddenEncoder", "8",
    "--hiddenGar", "8", "--nPredicts", "3", "--negativeSamplingExt", "4", "--rnnMode", "linear", "--samplingType", "uniform",
    "--random_seed", "0", "--logging_step", "1", "--schedulerRamp", "2",
])
