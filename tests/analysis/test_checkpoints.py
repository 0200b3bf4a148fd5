"""``torch.load``: whether it says where to, and what becomes of what it gives."""

from __future__ import annotations

import pytest

SETUP = """
import io
import os
model = nn.Linear(3, 3)
optimizer = torch.optim.Adam(model.parameters())
there = torch.ones(3, device="cuda")
"""


def only(observations):
    (loading,) = observations.loadings.values()
    return loading


@pytest.mark.parametrize(
    ("call", "mapped"),
    [
        ("torch.load('a.pt')", False),
        ("torch.load('a.pt', weights_only=True)", False),
        ("torch.load('a.pt', map_location=None)", True),
        ("torch.load('a.pt', None)", False),
        ("torch.load(f='a.pt')", False),
        ("torch.load('a.pt', map_location='cpu')", True),
        ("torch.load('a.pt', 'cpu')", True),
        ("torch.load('a.pt', map_location=lambda s, l: s)", True),
        ("torch.load('a.pt', map_location=somewhere())", True),
        ("torch.load('a.pt', **options())", True),
        ("torch.load('a.pt', **{'map_location': 'cpu'})", True),
    ],
)
def test_a_call_says_where_to_or_not(analyse, call, mapped):
    assert only(analyse(f"{SETUP}\nstate = {call}\n")).is_mapped is mapped


@pytest.mark.parametrize(
    ("use", "kind", "on_accelerator"),
    [
        pytest.param("model.load_state_dict(state)", "module", False, id="module"),
        pytest.param("model.cuda()\nmodel.load_state_dict(state)", "module", True, id="moved-module"),
        pytest.param("model.load_state_dict(state['model'])", "module", False, id="item"),
        pytest.param("model.load_state_dict(state.get('model'))", "module", False, id="get"),
        pytest.param("model.cuda()\noptimizer.load_state_dict(state['optimizer'])", "optimizer", True, id="optimizer"),
        pytest.param("there + state['x']", "tensor", True, id="tensor"),
        pytest.param("torch.set_rng_state(state)", "needs-cpu", False, id="random-state"),
    ],
)
def test_the_use_is_noted_with_the_place_of_its_other_side(analyse, use, kind, on_accelerator):
    uses = only(analyse(f"{SETUP}\nstate = torch.load('a.pt')\n{use}\n")).uses

    assert (kind, on_accelerator) in {(item.kind, item.on_accelerator) for item in uses}


def test_what_was_loaded_without_a_place_may_be_anywhere(place):
    assert place(SETUP, "torch.load('a.pt')['x']") == "unknown"


@pytest.mark.parametrize(
    ("device", "where"), [("'cpu'", "cpu"), ("'cuda'", "accelerator"), ("there.device", "accelerator")]
)
def test_what_was_loaded_to_a_place_is_there(place, device, where):
    assert place(SETUP, f"torch.load('a.pt', map_location={device})['x']") == where


@pytest.mark.parametrize(
    "program",
    [
        pytest.param(
            "buffer = io.BytesIO()\ntorch.save(model, buffer)\nbuffer.seek(0)\ntorch.load(buffer)\n", id="buffer"
        ),
        pytest.param("torch.save(model, 'a.pt')\ntorch.load('a.pt')\n", id="file"),
        pytest.param("path = os.path.join('runs', 'a.pt')\ntorch.save(model, path)\ntorch.load(path)\n", id="path"),
        pytest.param("if os.getpid() % 2:\n    torch.save(model, 'a.pt')\ntorch.load('a.pt')\n", id="if-better"),
    ],
)
def test_what_this_run_has_saved_comes_back_where_it_was(analyse, program):
    assert only(analyse(SETUP + program)).round_trip


@pytest.mark.parametrize(
    "program",
    [
        pytest.param("torch.load('a.pt')\ntorch.save(model, 'a.pt')\n", id="saved-afterwards"),
        pytest.param("torch.save(model, 'b.pt')\ntorch.load('a.pt')\n", id="another-file"),
        pytest.param(
            "torch.distributed.init_process_group('gloo')\ntorch.save(model, 'a.pt')\ntorch.load('a.pt')\n",
            id="several-processes",
        ),
        pytest.param("buffer = io.BytesIO(open('a.pt', 'rb').read())\ntorch.load(buffer)\n", id="bytes-of-a-file"),
    ],
)
def test_a_file_may_come_from_another_machine(analyse, program):
    assert not only(analyse(SETUP + program)).round_trip


@pytest.mark.parametrize(
    "call",
    [
        "pickle.load(file)",
        "np.load('a.npy')",
        "json.load(file)",
        "torch.hub.load('a', 'b')",
        "torch.jit.load('a.pt')",
        "model.load('a.pt')",
        "checkpoint.load('a.pt')",
    ],
)
def test_other_loads_are_not_torch_load(analyse, call):
    program = f"import json, pickle\nimport numpy as np\nfrom lib import checkpoint, file, model\nx = {call}\n"

    assert analyse(program).loadings == {}


def test_one_call_that_is_reached_twice_is_one_loading(analyse):
    program = "def load(path):\n    return torch.load(path)\nfor path in ('a.pt', 'b.pt'):\n    load(path)\n"

    assert len(analyse(program).loadings) == 1


def test_numbers_of_a_checkpoint_are_no_tensors(met):
    program = """
        settings = torch.load("settings.pt", map_location="cpu")
        ratio = settings["size"] / settings["hop"]
        print(torch.ones(3).cuda() / ratio)
        """

    assert met(program) == []


def test_a_range_between_numbers_of_a_checkpoint_is_on_the_cpu(place):
    text = "settings = torch.load('a.pt', map_location='cuda')['settings']\n"

    assert place(text, "torch.linspace(settings.start, settings.end, steps=10)") == "cpu"
    assert place(text, "torch.linspace(settings.start.view(()), settings.end, steps=10)") == "accelerator"


def test_one_of_two_values_that_name_one_device_names_it(place):
    text = "where = 'cuda' if somewhere() else torch.device('cuda')\n"

    assert place(SETUP + text, "torch.load('a.pt', map_location=where)['x']") == place(SETUP, "there")


def test_a_whole_module_was_loaded_where_it_is_used(analyse):
    uses = only(analyse(f"{SETUP}\nnet = torch.load('a.pt', map_location='cpu')\nnet(there)\n")).uses

    assert [(use.kind, use.device.kind) for use in uses] == [("object", "cpu")]


@pytest.mark.parametrize("entry", ['["config"].sigma', '.get("args").sigma'])
def test_an_entry_in_arithmetic_may_be_a_number(met, entry):
    text = f"""
        state = torch.load("model.pt", map_location="cuda")
        sigma = state{entry} if wanted() else state{entry.replace("sigma", "gamma")}
        print(torch.ones(3) / (2 * sigma ** 2))
    """

    assert met(text) == []


def test_the_options_of_a_run_are_numbers(met):
    assert met("""
        state = torch.load("model.pt", map_location="cuda")
        nn.Parameter(torch.ones(3) * state["args"].scale)
        nn.Parameter(torch.ones(3) * state["scale"])
    """) == ['nn.Parameter(torch.ones(3) * state["scale"])']


def test_an_entry_of_a_checkpoint_that_runs_a_backward_pass_is_no_tensor(analyse):
    program = "state = torch.load('a.pt', map_location='cpu')\nscaler = state['loss_scaler']\n"
    observations = analyse(
        program + "loss = nn.Linear(3, 3).cuda()(torch.ones(3).cuda()).sum()\nscaler.backward(loss)\n"
    )

    assert observations.mismatches == []
