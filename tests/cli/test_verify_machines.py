"""``devfix verify --on``: one row for each machine, before and after the patch."""

import importlib.resources
import json
import re

import jsonschema
import pytest

pytestmark = pytest.mark.sample(6)  # each takes seconds

pytest.importorskip("torch")

CUDA_ONLY = """\
import torch
from torch import nn

torch.manual_seed(3)
model = nn.Linear(4, 2).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    loss = model(torch.ones(8, 4).cuda()).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
NEUTRAL = CUDA_ONLY.replace(".cuda()", ".to(device)").replace(
    "torch.manual_seed(3)\n", 'torch.manual_seed(3)\ndevice = "cuda" if torch.cuda.is_available() else "cpu"\n'
)
#: float64 cannot be moved to MPS.
FLOAT64 = NEUTRAL.replace('"cuda" if torch.cuda.is_available() else "cpu"', "torch.accelerator.current_accelerator()")
FLOAT64 = FLOAT64.replace("torch.ones(8, 4).to(device)", "torch.ones(8, 4).double().to(device).float()")


@pytest.fixture
def verify(inside, project):
    def call(script, *options, patched=None):
        (project / "train.py").write_text(script)
        if patched is not None:
            (project / "patched.py").write_text(patched)
            options = ("--patched", "patched.py", *options)
        return inside("verify", "train.py", *options, cwd=project)

    return call


def rows(result):
    document = json.loads(result.stdout)
    schema = importlib.resources.files("devfix").joinpath("schema", "matrix-1.json").read_text("utf-8")
    jsonschema.validate(document, json.loads(schema))
    return {row["machine"]: row for row in document["machines"]}


def test_a_program_that_requires_cuda_is_compared_on_each_machine(verify):
    result = verify(CUDA_ONLY, "--on", "cpu,cuda,2xcuda,mps,xpu,npu", "--output-format", "json", patched=NEUTRAL)

    found = rows(result)
    assert result.code == 0
    assert [row["before"]["ok"] for row in found.values()] == [False, True, True, False, False, False]
    assert found["cpu"]["before"]["failure"]["line"] == 5
    assert all(row["after"]["ok"] and row["good"] for row in found.values())
    assert len({tuple(row["after"]["losses"]) for row in found.values()}) == 1
    assert [row["simulated"] for row in found.values()] == [False, True, True, True, True, True]


def test_a_machine_on_which_it_fails_is_named_with_the_line(verify):
    result = verify(FLOAT64, "--on", "cpu,xpu,mps")

    lines = [line.strip() for line in result.text.splitlines() if line.strip()]
    assert result.code == 1
    assert [line.split()[0] for line in lines if "completed" in line] == ["cpu", "xpu"]
    assert any(line.startswith("mps (sim), now: TypeError: Cannot convert a MPS Tensor") for line in lines)
    assert lines[-1] == "not portable: 1 of 3 machines failed: mps (sim)."


def test_other_losses_are_refused(verify):
    result = verify(CUDA_ONLY, "--on", "cuda", "--output-format", "json", patched=NEUTRAL.replace("lr=0.1", "lr=0.2"))

    row = rows(result)["cuda"]
    assert (result.code, row["compared"]) == (1, "other losses")
    assert "the losses differ from the original on cuda" in row["difference"]


def test_the_page_has_a_chart_for_each_machine_but_the_reference(verify):
    pytest.importorskip("jinja2")

    result = verify(NEUTRAL, "--on", "cpu,cuda", "--output-format", "html")

    assert result.code == 0
    assert result.text.count("<figure") == 1
    assert "Losses on cpu" in result.text


def test_an_agent_gets_a_line_for_each_machine_and_the_next_command(verify):
    result = verify(CUDA_ONLY, "--on", "cpu,cuda", "--output-format", "agent", patched=NEUTRAL)

    first, second, failure, last = result.text.splitlines()
    assert re.fullmatch(r"cpu: before \w+Error at train\.py:5, after completed, same losses", first)
    assert second == "cuda (sim): before completed, after completed, same losses"
    assert re.match(r"cpu, before: \w+Error: .*(CUDA|NVIDIA)", failure)
    assert last.endswith("; 1 file in the patch; next: nothing to do")


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--on", "gpu"), "invalid value for '--on': 'gpu' is no machine"),
        (("--on", "cpu", "--device", "sim"), "--device and --on exclude each other"),
        (("--on", "cpu", "--devices", "2"), "--devices and --on exclude each other"),
    ],
)
def test_options_that_cannot_be_used_are_refused(verify, options, told):
    result = verify(NEUTRAL, *options)

    assert result.code == 2
    assert told in result.stderr


def test_port_writes_what_is_good_on_the_machines_of_its_devices(inside, project):
    (project / "train.py").write_text(CUDA_ONLY)

    result = inside("port", ".", "--verify", "--to", "cpu,cuda", "--", "train.py", cwd=project)

    assert result.code == 0
    assert result.text.splitlines()[-1] == "portable: the script completes on 2 machines, as the original on cuda does."
    assert "device = torch.device(" in (project / "train.py").read_text()


def test_port_writes_nothing_if_the_script_fails_on_one_of_them(inside, project):
    script = f"{CUDA_ONLY}print(1 / (model.weight.device.type == 'cuda'))\n"
    (project / "train.py").write_text(script)

    result = inside("port", ".", "--verify", "--to", "cpu,cuda", "--", "train.py", cwd=project)

    assert result.code == 1
    assert "nothing was written, because the script fails or differs on cpu" in " ".join(result.text.split())
    assert (project / "train.py").read_text() == script


def test_port_requires_the_script_to_verify(inside, project):
    result = inside("port", ".", "--verify", cwd=project)

    assert result.code == 2
    assert "--verify requires a script: devfix port . --verify -- SCRIPT ARGS" in result.stderr


def test_losses_of_another_precision_are_not_compared(verify):
    script = NEUTRAL.replace(
        "    loss = model(torch.ones(8, 4).to(device)).pow(2).mean()\n",
        "    with torch.autocast(device, enabled=device == 'cuda'):\n"
        "        loss = model(torch.ones(8, 4).to(device) / 3).pow(2).mean()\n",
    )

    result = verify(script, "--on", "cpu,cuda", "--output-format", "json")

    assert (result.code, [row["compared"] for row in rows(result).values()]) == (0, ["other precision", "reference"])
    (note,) = json.loads(result.stdout)["notes"]
    assert note.startswith("losses on cpu are not compared")


def test_a_script_for_two_devices_is_compared_with_itself(verify):
    script = NEUTRAL.replace(
        "optimizer = ", "second = torch.zeros(1, device='cuda:1' if device == 'cuda' else device)\noptimizer = "
    )

    result = verify(script, "--on", "cpu,2xcuda", "--output-format", "json")

    assert [row["compared"] for row in rows(result).values()] == ["same losses", "reference"]
