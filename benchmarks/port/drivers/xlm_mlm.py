import functools
import inspect
import os
import runpy
import shutil
import sys
import types

import numpy as np
import torch


def module(name, **content):
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(content)


def masked_scatter(self, mask, source):
    return scatter(self, mask.bool(), source)  # a mask of bytes, as in PyTorch 1.1


module("apex")
module("scipy")
module("scipy.stats", spearmanr=None, pearsonr=None)
module("sklearn")
module("sklearn.metrics", f1_score=None, matthews_corrcoef=None)
scatter, torch.Tensor.masked_scatter = torch.Tensor.masked_scatter, masked_scatter
np.random.seed(0)
torch.manual_seed(0)
shutil.rmtree("dumped", ignore_errors=True)
os.makedirs("corpus", exist_ok=True)
open("xlm/evaluation/multi-bleu.perl", "w", encoding="utf-8").close()
inspect.getargspec = inspect.getfullargspec  # as in Python 3.10
torch.load = functools.partial(torch.load, weights_only=False)  # as in PyTorch 2.5
from xlm.data.dictionary import Dictionary

with open("corpus/vocab.en", "w", encoding="utf-8") as file:
    file.writelines(f"word{number} {100 - number}\n" for number in range(40))
words = Dictionary.read_vocab("corpus/vocab.en")
for part, sentences in (("train", 40), ("valid", 4), ("test", 4)):
    with open(f"corpus/{part}.en", "w", encoding="utf-8") as file:
        for _ in range(sentences):
            start = np.random.randint(30)
            file.write(" ".join(f"word{start + number}" for number in range(np.random.randint(4, 10))) + "\n")
    if os.path.exists(f"corpus/{part}.en.pth"):
        os.remove(f"corpus/{part}.en.pth")
    Dictionary.index_data(f"corpus/{part}.en", f"corpus/{part}.en.pth", words)
sys.argv = ["train.py", "--exp_name", "small_mlm_en", "--exp_id", "1", "--dump_path", "./dumped/", "--data_path", "corpus", "--lgs", "en"]
sys.argv += ["--clm_steps", "en", "--mlm_steps", "en", "--emb_dim", "16", "--n_layers", "2", "--n_heads", "2", "--dropout", "0.1"]
sys.argv += ["--attention_dropout", "0.1", "--gelu_activation", "true", "--batch_size", "4", "--bptt", "12", "--epoch_size", "24"]
sys.argv += ["--optimizer", "adam,lr=0.001", "--max_epoch", "1", "--validation_metrics", "_valid_mlm_ppl"]
runpy.run_path("train.py", run_name="__main__")
