"""Which loaded values are checkpoints, by the text of the function that loads them."""

from __future__ import annotations

import ast

import pytest

from codemods.checkpoints._loaded_state import is_checkpoint
from devfix.syntax.tree import SourceTree

CHECKPOINTS = {
    "filled": "state = torch.load(path)\nnet.load_state_dict(state['net'])",
    "filled-directly": "self.load_state_dict(torch.load(path))",
    "renamed-keys": "loaded = torch.load(path)\nstate = {}\nfor key, value in loaded.items():\n"
    "    state[key[7:]] = value\nnet.load_state_dict(state)",
    "some-keys": "loaded = torch.load(path)['weights']\nown = net.state_dict()\n"
    "own.update({k: v for k, v in loaded.items() if k in own})\nnet.load_state_dict(own)",
    "copied-by-hand": "loaded = torch.load(path)\nown = net.state_dict()\nfor key in own:\n    if key in loaded:\n"
    "        own[key].data = loaded[key].data",
    "converted": "state = torch.load(path)\nstate['version'] = 2\ntorch.save(state, other)",
    "mixed": "other = torch.load(path)\none = torch.load(second)\nmixed = {}\nfor key, value in one.items():\n"
    "    mixed[key] = value + other[key]\ntorch.save(mixed, result)",
    "averaged": "other = torch.load(path)\none = torch.load(second)\n"
    "mean = {key: (value + other['net'][key]) / 2 for key, value in one['net'].items()}",
    "weights-by-name": "state = torch.load(path)\nrows = [value for key, value in state['net'].items()]",
    "called": "net = torch.load(path)\nnet(x)",
    "evaluated-in-a-function": "net = torch.load(path).cuda()\n\ndef run():\n    net.eval()",
}

OTHERS = {
    "data": "data = torch.load(path)\nloader = DataLoader(data)",
    "cache": "if exists(path):\n    corpus = torch.load(path)\nelse:\n    corpus = read()\n"
    "    torch.save(corpus, path)",
    "statistics": "log = torch.load(path)\nprint(log['best'])",
    "data-of-two-files": "train = torch.load(path)\ntest = torch.load(second)\ndata = train + test",
    "state-of-another": "data = torch.load(path)\ntorch.save(net.state_dict(), other)",
    "name-of-another-function": "data = torch.load(path)\n\ndef dump(data):\n    torch.save(data, other)",
}


def _is_checkpoint(text: str) -> bool:
    tree = SourceTree("train.py", text)
    load = next(node for node in tree.nodes if isinstance(node, ast.Call) and ast.unparse(node.func) == "torch.load")
    return is_checkpoint(tree, load)


@pytest.mark.parametrize("name", CHECKPOINTS)
def test_a_value_that_fills_or_is_a_module_is_a_checkpoint(name):
    assert _is_checkpoint(CHECKPOINTS[name])


@pytest.mark.parametrize("name", OTHERS)
def test_data_and_caches_are_none(name):
    assert not _is_checkpoint(OTHERS[name])
