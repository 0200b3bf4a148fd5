import random
import runpy
import sys
import types

import torch


def module(name, **content):
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(content)
    return sys.modules[name]


class Field:
    """The words of a language, as torchtext keeps them."""

    def __init__(self, words):
        self.vocab = Vocabulary(words)


class Vocabulary:
    def __init__(self, words):
        self.stoi = {word: number for number, word in enumerate(words)}

    def __len__(self):
        return len(self.stoi)


class Sentences:
    def __init__(self, examples, fields):
        self.examples = examples


class Batches:
    """Batches on a device, of sentences of a similar length."""

    def __init__(self, dataset, batch_size, device, train=False):
        self.batches = [dataset.examples[start : start + batch_size] for start in range(0, len(dataset.examples), batch_size)]
        self.device = device

    def __iter__(self):
        for batch in self.batches:
            yield types.SimpleNamespace(src=self.pad([pair[0] for pair in batch]), trg=self.pad([pair[1] for pair in batch]))

    def pad(self, sentences):
        length = max(len(sentence) for sentence in sentences)
        return torch.tensor([sentence + [1] * (length - len(sentence)) for sentence in sentences], device=self.device).t()


module("torchtext").data = module("torchtext.data", Field=Field, Dataset=Sentences, BucketIterator=Batches)
module("torchtext.datasets", TranslationDataset=Sentences)
random.seed(0)
words = ["<unk>", "<blank>", "<s>", "</s>", *(f"word{number}" for number in range(16))]
pairs = []
for _ in range(12):
    sentence = [random.randint(4, 19) for _ in range(random.randint(3, 7))]
    pairs.append(([2, *sentence, 3], [2, *(4 + (word + 3) % 16 for word in reversed(sentence)), 3]))
data = {"settings": types.SimpleNamespace(max_len=10), "vocab": {"src": Field(words), "trg": Field(words)}, "train": pairs[:8], "valid": pairs[8:]}
module("dill", load=lambda file: data)
open("data.pkl", "w").close()
sizes = ["-b", "4", "-d_model", "16", "-d_inner_hid", "32", "-d_k", "8", "-d_v", "8", "-n_head", "2", "-n_layers", "2", "-warmup", "100"]
sys.argv = ["train.py", "-data_pkl", "data.pkl", "-embs_share_weight", "-proj_share_weight", "-label_smoothing", "-output_dir", "output", "-epoch", "2", "-seed", "1", *sizes]
runpy.run_path("train.py", run_name="__main__")
