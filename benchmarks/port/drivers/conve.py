import os
import runpy
import sys
import types

import numpy as np
import torch


def module(name, **content):
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(content)


class Anything:
    def __init__(self, *settings, **options):
        pass


class Config:
    backend = "numpy"
    cuda = False


class Logger(Anything):
    def info(self, text, *values):
        print(text.format(*values))


class Vocabulary:
    def __init__(self, number):
        self.num_token = number


class Pipeline:
    def __init__(self, name, keys):
        self.state = {}

    def load_vocabs(self):
        self.state["vocab"] = {"e1": Vocabulary(20), "rel": Vocabulary(6)}


class LossHook:
    def __init__(self, name, print_every_x_batches):
        self.name = name

    def show(self, state):
        print(self.name, "loss", float(state.loss))


class Targets:
    def __init__(self, number, key, new_key):
        self.number, self.key, self.new_key = number, key, new_key

    def add(self, batch):
        batch[self.new_key] = np.zeros((len(batch[self.key]), self.number), np.float32)
        for row, indices in zip(batch[self.new_key], batch[self.key]):
            row[indices] = 1


class StreamBatcher:
    """Batches of a knowledge graph, as tensors on the GPU if so configured."""

    def __init__(self, name, part, batch_size, randomize, keys, loader_threads):
        draw = np.random.RandomState(len(part))
        self.data = {key: draw.randint(1, 6, (2 * batch_size, 1)) for key in ("rel", "rel_eval")}
        self.data.update({key: draw.randint(1, 20, (2 * batch_size, 1)) for key in ("e1", "e2")})
        self.data.update({key: draw.randint(1, 20, (2 * batch_size, 3)) for key in ("e2_multi1", "e2_multi2")})
        self.batch_size = batch_size
        self.at_batch_prepared_observers, self.hooks = [None], []
        self.state = types.SimpleNamespace(loss=None)

    def subscribe_to_events(self, hook):
        self.hooks += [hook] if isinstance(hook, LossHook) else []

    def subscribe_to_start_of_epoch_event(self, hook):
        pass

    def __iter__(self):
        for start in range(0, 2 * self.batch_size, self.batch_size):
            batch = {key: values[start : start + self.batch_size] for key, values in self.data.items()}
            for observer in self.at_batch_prepared_observers[1:]:
                observer.add(batch)
            batch = {key: torch.from_numpy(values) for key, values in batch.items()}
            yield {key: values.cuda() for key, values in batch.items()} if Config.cuda else batch
            for hook in self.hooks:
                hook.show(self.state)


names = "JsonLoaderProcessors Tokenizer AddToVocab SaveLengthsToState StreamToHDF5 SaveMaxLengthsToState CustomTokenizer"
names += " ConvertTokenToIdx ApplyFunction ToLower DictKey2ListMapper StreamToBatch"
module("spodernet")
module("spodernet.preprocessing")
module("spodernet.utils")
module("spodernet.preprocessing.pipeline", Pipeline=Pipeline, DatasetStreamer=Anything)
module("spodernet.preprocessing.processors", TargetIdx2MultiTarget=Targets, **dict.fromkeys(names.split(), Anything))
module("spodernet.preprocessing.batching", StreamBatcher=StreamBatcher)
module("spodernet.utils.global_config", Config=Config, Backends=Anything)
module("spodernet.utils.logger", Logger=Logger, LogLevel=Anything)
module("spodernet.utils.util", Timer=Anything)
module("spodernet.hooks", LossHook=LossHook, ETAHook=Anything)
module("sklearn", metrics=None)
os.makedirs("saved_models", exist_ok=True)
sys.argv = ["main.py", "--model", "conve", "--data", "FB15k-237", "--input-drop", "0.2", "--hidden-drop", "0.3", "--feat-drop", "0.2", "--lr", "0.003"]
sys.argv += ["--batch-size", "8", "--test-batch-size", "8", "--epochs", "6", "--embedding-dim", "20", "--embedding-shape1", "4", "--hidden-size", "576"]
runpy.run_path("main.py", run_name="__main__")
