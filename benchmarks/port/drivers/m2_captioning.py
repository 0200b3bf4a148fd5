import collections
import collections.abc
import os
import runpy
import sys
import types

import torch


class Writer:
    def __init__(self, log_dir):
        self.folder = log_dir

    def add_scalar(self, name, value, step):
        print(step, name, float(value))


class Features:
    def __init__(self, path, mode):
        self.path = path

    def __getitem__(self, name):
        draw = torch.Generator().manual_seed(int(name.partition("_")[0]))
        return {(): torch.rand(6, 2048, generator=draw).numpy()}


class Language:
    def tokenizer(self, text):
        return [types.SimpleNamespace(text=word) for word in text.split()]


class Tokenizer:
    @classmethod
    def tokenize(cls, corpus):
        if isinstance(corpus, dict):
            return {key: [each.lower() for each in texts] for key, texts in corpus.items()}
        return {index: [text] if isinstance(text, str) else list(text) for index, text in enumerate(corpus)}


class Meteor:
    def compute_score(self, gts, res):
        return 0.5, [0.5] * len(gts)

    def __str__(self):
        return "METEOR"


def module(name, **content):
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(content)


collections.Sequence = collections.abc.Sequence  # as in Python 3.9
module("torch.utils.tensorboard", SummaryWriter=Writer)
module("h5py", File=Features)
module("spacy", load=lambda name: Language())
module("six", PY2=False, string_types=(str,), text_type=str)
module("six.moves")
module("six.moves.urllib")
module("six.moves.urllib.request", urlretrieve=None)
import data
import evaluation
from data.dataset import Dataset, PairedDataset
from data.example import Example


class Pictures:
    def __init__(self, image_field, text_field, *folders):
        words, fields = ["a", "dog", "cat", "runs", "sits"], {"image": image_field, "text": text_field}
        texts = [" ".join(words[(index + step) % 5] for step in range(5)) for index in range(20)]
        examples = [Example.fromdict({"image": f"coco_{index}.jpg", "text": text}) for index, text in enumerate(texts)]
        self.splits = [PairedDataset(part, fields) for part in (examples, examples[:2], examples[2:4])]


Dataset.__getitems__ = lambda self, indices: [self[each] for each in indices]  # not asked for in PyTorch 1.1
data.COCO = Pictures
evaluation.PTBTokenizer, evaluation.Meteor = Tokenizer, Meteor
os.makedirs("saved_models", exist_ok=True)
sys.argv = ["train.py", "--batch_size", "5", "--m", "4", "--features_path", "features.hdf5", "--annotation_folder", "annotations"]
runpy.run_path("train.py", run_name="__main__")
