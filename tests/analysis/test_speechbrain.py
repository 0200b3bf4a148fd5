"""SpeechBrain: what ``Brain`` calls and moves, and what HyperPyYAML constructs."""

from __future__ import annotations

import textwrap

import pytest

from devfix import analysis

SETUP = """
import sys
import speechbrain as sb
from hyperpyyaml import load_hyperpyyaml

class Recipe(sb.Brain):
    def compute_forward(self, batch, stage):
        {moved}
        wavs, lens = batch.sig
        return self.modules.encoder(wavs){forward}

    def compute_objectives(self, predictions, batch, stage):
        return predictions.mean(){objectives}

    def on_stage_end(self, stage, loss, epoch=None):
        self.modules["encoder"](torch.ones(3{device}))
"""

RUN = """
hparams_file, run_opts, overrides = sb.parse_arguments(sys.argv[1:])
with open(hparams_file) as stream:
    hparams = load_hyperpyyaml(stream, overrides)
brain = Recipe(hparams["modules"], hparams["opt_class"], hparams, {options})
brain.{call}
"""


def program(
    call="fit(range(3), hparams['data'])",
    options="run_opts",
    moved="batch = batch.to(self.device)",
    device=", device=self.device",
    **parts,
):
    recipe = SETUP.format(**{"forward": "", "objectives": "", **parts}, moved=moved, device=device)
    return recipe + RUN.format(call=call, options=options)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        pytest.param({}, [], id="everything-moved"),
        pytest.param({"moved": "pass"}, ["return self.modules.encoder(wavs)"], id="batch-on-the-cpu"),
        pytest.param(
            {"forward": " + torch.ones(3)"}, ["return self.modules.encoder(wavs) + torch.ones(3)"], id="forward"
        ),
        pytest.param(
            {"objectives": " + torch.ones(3)"}, ["return predictions.mean() + torch.ones(3)"], id="objectives"
        ),
        pytest.param(
            {"call": "evaluate(hparams['data'])", "forward": " + torch.ones(3)"},
            ["return self.modules.encoder(wavs) + torch.ones(3)"],
            id="evaluate",
        ),
        pytest.param({"device": ""}, ['self.modules["encoder"](torch.ones(3))'], id="stage-end"),
        pytest.param({"options": "None", "moved": "pass", "device": ""}, [], id="no-options-are-the-cpu"),
        pytest.param({"options": "{'device': 'cpu'}", "moved": "pass", "device": ""}, [], id="on-the-cpu"),
        pytest.param(
            {"options": "{'device': 'cuda'}", "device": ""}, ['self.modules["encoder"](torch.ones(3))'], id="named"
        ),
    ],
)
def test_a_brain_calls_its_methods_on_the_device(met, given, expected):
    assert met(program(**given)) == expected


def test_fit_batch_is_called_in_place_of_the_methods_that_it_calls(met):
    own = """
class Own(Recipe):
    def fit_batch(self, batch):
        self.modules.encoder(batch.to(self.device).sig.data + torch.ones(3))

Own({}, None, {}, {"device": "cuda"}).fit(range(3), None)
"""
    assert met(program(call="modules") + own) == [
        "self.modules.encoder(batch.to(self.device).sig.data + torch.ones(3))"
    ]


@pytest.mark.parametrize(
    ("moved", "expected"),
    [
        pytest.param("batch = batch.to(self.device)", [], id="moved"),
        pytest.param("pass", ["return self.modules.encoder(wavs)"], id="not-moved"),
    ],
)
def test_a_padded_batch_moves_as_a_whole(met, moved, expected):
    loader = "DataLoader(examples(), collate_fn=PaddedBatch)"
    text = program(call=f"fit(range(3), {loader})", moved=moved, device=", device=self.device")
    assert met("from speechbrain.dataio.batch import PaddedBatch\n" + text) == expected


# --- files on disk ------------------------------------------------------------------------------------------------
SOURCES = {
    "speechbrain/__init__.py": "from .core import Brain\n",
    "speechbrain/core.py": "class Brain:\n    def fit(self, *args):\n        unreadable(self)\n",
    "nets.py": """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self, size=3):
        super().__init__()
        self.layer = nn.Linear(3, 3)

    def forward(self, x):
        return self.layer(x)

def loss(scores, weight=1):
    return scores.sum()
""",
    "hparams/train.yaml": """
__set_seed: !!python/object/apply:torch.manual_seed [1]
size: 3
shared: !new:nets.Net
  size: !ref <size>
teacher: !new:nets.Net
copied: !copy <shared>
nested:
  one: !ref <teacher>
cycle: !ref <cycle>
modules:
  shared: !ref <shared>
loss: !name:nets.loss
  weight: !ref <size> * 2
opt_class: !name:torch.optim.Adam
  lr: 0.1
""",
    "hparams/other.yaml": "teacher: !new:nets.Net\n",
    "broken.yaml": "a: [\n",
}

RECIPE = """
import sys
import speechbrain as sb
import torch
from hyperpyyaml import load_hyperpyyaml

class Recipe(sb.Brain):
    def compute_forward(self, batch, stage):
        batch = batch.to(self.device)
        x, _ = batch.sig
        self.optimizer = self.opt_class(self.modules.parameters())
        return {forward}

    def compute_objectives(self, predictions, batch, stage):
        return self.hparams.loss(predictions)

hparams_file, run_opts, overrides = sb.parse_arguments(sys.argv[1:])
with open(hparams_file) as stream:
    hparams = load_hyperpyyaml(stream, overrides)
brain = Recipe(hparams["modules"], hparams["opt_class"], hparams, run_opts)
brain.fit(range(3), None)
"""


@pytest.mark.parametrize(
    ("forward", "meets"),
    [
        pytest.param("self.hparams.shared(x)", False, id="moved-with-the-modules"),
        pytest.param("self.modules.shared(x)", False, id="module"),
        pytest.param("self.hparams.teacher(x)", True, id="not-among-the-modules"),
        pytest.param("self.hparams.nested['one'](x)", True, id="nested"),
        pytest.param("self.hparams.copied(x)", True, id="copy"),
        pytest.param("self.hparams.cycle(x)", False, id="cycle"),
        pytest.param("self.hparams.unknown(x)", False, id="not-in-the-file"),
        pytest.param("self.modules.shared(x) + torch.ones(self.hparams.size)", True, id="number"),
    ],
)
def test_the_configuration_constructs_the_modules(tmp_path, forward, meets):
    observations = _observe(tmp_path, forward)

    assert bool(observations.mismatches) == meets
    assert observations.configured == []


OTHER = """
other: !new:torch.nn.Linear
    in_features: 3
    out_features: 3
modules:
    shared: !new:torch.nn.Linear
        in_features: 3
        out_features: 3
"""


def test_a_program_is_followed_with_each_file_that_has_keys_of_its_own(tmp_path):
    (tmp_path / "other.yaml").write_text(OTHER)
    observations = _observe(tmp_path, "self.hparams.other(x)")

    assert [bool(one.mismatches) for one in (observations, *observations.configured)] == [False, True]


def _observe(tmp_path, forward):
    for name, text in SOURCES.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(textwrap.dedent(text))
    script = tmp_path / "train.py"
    script.write_text(RECIPE.format(forward=forward))

    def read(path):
        with open(path) as file:
            return file.read()

    observations = analysis.analyse(str(script), read, str(tmp_path))

    assert observations is not None
    return observations
