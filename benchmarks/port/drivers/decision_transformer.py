import os
import pickle
import random
import runpy
import sys
import types
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn


class Config:
    def __init__(self, **options):
        self.n_ctx, self.layer_norm_epsilon, self.initializer_range, self.embd_pdrop = 1024, 1e-5, 0.02, 0.1
        self.add_cross_attention = self.output_attentions = self.output_hidden_states = self.gradient_checkpointing = False
        self.use_cache = self.use_return_dict = True
        vars(self).update(options)


class Pretrained(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config

    @property
    def dtype(self):
        return next(self.parameters()).dtype

    def init_weights(self):
        self.apply(self._init_weights)

    def get_head_mask(self, mask, count):
        return [None] * count


class Conv1D(nn.Module):
    def __init__(self, outside, inside):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.randn(inside, outside) * 0.02), nn.Parameter(torch.zeros(outside))

    def forward(self, x):
        return x @ self.weight + self.bias


@dataclass
class Output(dict):
    pass


class Hopper:
    observation_space, action_space = np.zeros(4), np.zeros(2)

    def reset(self):
        self.steps = 0
        return np.zeros(4, dtype="float32")

    def step(self, action):
        self.steps += 1
        return np.full(4, float(action.sum()), dtype="float32"), 1.0, self.steps == 3, {}


def decorator(*args, **options):
    return lambda function: function


def module(name, **content):
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(content)


module("gym", make=lambda name: Hopper())
module("transformers", GPT2Config=Config)
module("transformers.activations", ACT2FN={"relu": nn.ReLU()})
documents = ["add_code_sample_docstrings", "add_start_docstrings", "add_start_docstrings_to_model_forward", "replace_return_docstrings"]
module("transformers.file_utils", ModelOutput=Output, **dict.fromkeys(documents, decorator))
module("transformers.modeling_outputs", BaseModelOutputWithPastAndCrossAttentions=dict)
prune = {"find_pruneable_heads_and_indices": None, "prune_conv1d_layer": None}
module("transformers.modeling_utils", Conv1D=Conv1D, PreTrainedModel=Pretrained, SequenceSummary=None, **prune)
module("transformers.utils", logging=types.SimpleNamespace(get_logger=lambda name: None))
module("transformers.utils.model_parallel_utils", assert_device_map=None, get_device_map=None)
module("transformers.models")
module("transformers.models.gpt2")
module("transformers.models.gpt2.configuration_gpt2", GPT2Config=Config)

draw = np.random.RandomState(0)
os.makedirs("data", exist_ok=True)
with open(os.path.join("data", "hopper-medium-v2.pkl"), "wb") as file:
    paths = [
        {"observations": draw.randn(8, 4), "actions": draw.rand(8, 2), "rewards": draw.rand(8), "terminals": np.zeros(8)}
        for _ in range(3)
    ]
    pickle.dump(paths, file)
options = ["--K", "5", "--batch_size", "4", "--embed_dim", "8", "--n_layer", "1", "--num_eval_episodes", "1", "--max_iters", "1"]
for kind in ("dt", "bc"):
    torch.manual_seed(0)
    np.random.seed(0)
    random.seed(0)
    sys.argv = ["experiment.py", "--model_type", kind, "--num_steps_per_iter", "2", *options]
    runpy.run_path("experiment.py", run_name="__main__")
