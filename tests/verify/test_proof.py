"""Verdicts on right and wrong patches."""

# ruff: noqa: E501
from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

from conformance.words import elsewhere
from devfix.verify import Verdict, prove, run
from devfix.verify.advice import describe_ending
from devfix.verify.loss_comparison import first_difference
from devfix.verify.records import Failure, Run
from devfix.verify.training_invariants import describe_gradient_change

from .scripts import BROKEN, FIXED, edited, project

pytestmark = pytest.mark.sample(19)  # each takes seconds


def verdict(tmp_path: Path, original: str, patched: str, **options: Any) -> Verdict:
    return prove(project(tmp_path / "a", original), project(tmp_path / "b", patched), "train.py", **options)


def test_the_right_patch_is_fixed(tmp_path: Path) -> None:
    found = verdict(tmp_path, BROKEN, FIXED)
    assert (found.status, found.reference, found.silent) == ("fixed", "original/cpu", False), found.reason
    assert elsewhere("mat1", "cpu", "cuda:0") in found.reason
    failure = found.runs["original/device"].failure
    assert failure is not None
    assert (failure.family, failure.where, failure.code) == (
        "same-device",
        "train.py:12",
        "loss = nn.functional.cross_entropy(head(model(x)), y)",
    )
    patched = found.runs["patched/device"]
    assert (len(patched.losses), patched.steps, patched.parameters) == (4, 4, 6)
    assert patched.losses == found.runs["original/cpu"].losses
    assert "loss " in patched.output


WRONG = {
    "half of the repair": (edited("x, y = x.to(device), y.to(device)", "x = x.to(device)"), "not-fixed"),
    "a move after the use": (
        edited("    x, y = x.to(device), y.to(device)\n", "").replace(
            "    optimizer.zero_grad()", "    x = x.to(device)\n    optimizer.zero_grad()"
        ),
        "not-fixed",
    ),
    "a move whose result is dropped": (
        edited("x, y = x.to(device), y.to(device)", "x.to(device), y.to(device)"),
        "not-fixed",
    ),
    "flight to the cpu": (edited('"cuda" if torch.cuda.is_available() else "cpu"', '"cpu"'), "moved-to-cpu"),
    "the training step is gone": (edited("    optimizer.step()\n", ""), "loss-differs"),
    "another seed": (edited("manual_seed(3)", "manual_seed(4)"), "loss-differs"),
    "a group is lost": (edited(', {"params": head.parameters()}', ""), "loss-differs"),
    "the loss is detached": (edited("loss.backward()", "loss.detach().requires_grad_().backward()"), "loss-differs"),
    "one more random number": (edited("for x, y in", "torch.rand(1)\nfor x, y in"), "loss-differs"),
    "fewer steps": (edited("batch_size=8", "batch_size=16"), "loss-differs"),
    "a name that is not there": (edited("x, y = x.to(device), y.to(device)", "x, y = x.to(dev), y.to(dev)"), "broken"),
    "the exception is swallowed": (
        edited("x, y = x.to(device), y.to(device)", "pass").replace(
            "import torch\n", "import sys, torch\nsys.exit(0)\n", 1
        ),
        "loss-differs",
    ),
}


TO_DEVICE = "x, y = x.to(device), y.to(device)"
WRONG.update(
    {
        "part of the work on the cpu": (
            edited(f"    {TO_DEVICE}\n", "    model.cpu()\n").replace(
                "head(model(x)), y", "head(model(x).to(device)), y.to(device)"
            ),
            "moved-to-cpu",
        ),
        "the loss on the cpu": (
            edited(TO_DEVICE, "x = x.to(device)").replace(
                "cross_entropy(head(model(x))", "cross_entropy(head(model(x)).cpu()"
            ),
            "moved-to-cpu",
        ),
        "the last layer on the cpu": (
            edited("    loss = nn", "    head.cpu()\n    loss = nn")
            .replace("head(model(x))", "head(model(x).cpu())")
            .replace("), y)", ").to(device), y)"),
            "moved-to-cpu",
        ),
        "flight where there is an accelerator": (
            edited('"cuda" if torch.cuda.is_available() else "cpu"', '"cpu" if torch.cuda.is_available() else "cpu"'),
            "moved-to-cpu",
        ),
        "an accelerator that says it is not there": (
            edited("import torch\n", "import torch\ntorch.cuda.is_available = lambda: False\n"),
            "moved-to-cpu",
        ),
        "an accelerator hidden by a variable": (
            "import os\nos.environ['CUDA_VISIBLE_DEVICES'] = ''\n" + FIXED,
            "moved-to-cpu",
        ),
        "another learning rate": (edited("lr=1e-2", "lr=1.0001e-2"), "loss-differs"),
        "another optimizer": (edited("torch.optim.Adam(", "torch.optim.AdamW("), "loss-differs"),
        "another order of the batches": (edited("shuffle=True", "shuffle=False"), "loss-differs"),
        "a scaled loss": (
            edited("    loss.backward()", "    (2 * loss).backward()"),
            "loss-differs",
        ),
        "a scaled loss that is divided before it is printed": (
            edited("y)\n    optimizer.zero", "y) * 2\n    optimizer.zero").replace("loss.item()", "loss.item() / 2"),
            "loss-differs",
        ),
        "a scaled gradient": (edited("loss.backward()", "loss.backward(torch.full_like(loss, 2.0))"), "loss-differs"),
        "gradients that are cut": (
            edited(
                "    optimizer.step()", "    nn.utils.clip_grad_norm_(model.parameters(), 1e-3)\n    optimizer.step()"
            ),
            "loss-differs",
        ),
        "gradients that add up": (edited("    optimizer.zero_grad()\n", ""), "loss-differs"),
        "every error is swallowed": (
            BROKEN.replace(
                "    loss = nn",
                "    try:\n        head(model(x))\n    except RuntimeError:\n        continue\n    loss = nn",
            ),
            "loss-differs",
        ),
        "an error is answered with the cpu": (
            BROKEN.replace(
                "    loss = nn",
                "    try:\n        head(model(x))\n    except RuntimeError:\n        model.cpu()\n        head.cpu()\n    loss = nn",
            ),
            "loss-differs",  # dropout has drawn before
        ),
        "an end before the line that fails": (
            edited("for x, y in", "import sys; sys.exit(0)\nfor x, y in"),
            "loss-differs",
        ),
        "an end that leaves no word": (edited("for x, y in", "import os; os._exit(0)\nfor x, y in"), "broken"),
        "no dropout": (edited("nn.Dropout(0.2)", "nn.Identity()"), "loss-differs"),
        "evaluation instead of training": (
            edited("model.to(device)\nhead", "model.to(device).eval()\nhead"),
            "loss-differs",
        ),
        "a frozen layer": (
            edited("head = nn", "model[0].weight.requires_grad_(False)\nhead = nn"),
            "loss-differs",
        ),
        "a frozen layer, from the last step on": (
            edited(
                "    loss = nn",
                "    if len(seen) == 3: model[0].weight.requires_grad_(False)\n    seen.append(1)\n    loss = nn",
            ).replace("for x, y in", "seen = []\nfor x, y in"),
            "loss-differs",
        ),
        "the last step is left out": (
            edited("    optimizer.step()", "    seen.append(1)\n    if len(seen) < 4: optimizer.step()").replace(
                "for x, y in", "seen = []\nfor x, y in"
            ),
            "loss-differs",
        ),
        "one batch less": (
            edited("    loss = nn", "    if len(seen) == 3: break\n    seen.append(1)\n    loss = nn").replace(
                "for x, y in", "seen = []\nfor x, y in"
            ),
            "loss-differs",
        ),
        "other data": (edited("torch.randn(32, 4)", "torch.randn(32, 4).abs()"), "loss-differs"),
        "half the precision": (edited(TO_DEVICE, "x, y = x.half().float().to(device), y.to(device)"), "loss-differs"),
        "no training where there is an accelerator": (
            edited("for x, y in", "if torch.cuda.is_available(): raise SystemExit\nfor x, y in"),
            "loss-differs",
        ),
    }
)


WRONG.update(
    {
        "other words are printed": (
            edited('print(f"loss {loss.item():.4f}")', 'print("Loss:", float(loss), "on", loss.device)'),
            "output-differs",
        ),
        "nothing is printed": (edited('    print(f"loss {loss.item():.4f}")\n', ""), "output-differs"),
    }
)


@pytest.fixture(scope="module")
def originals(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Run]:
    """The runs of the broken script, which are the same for every patch."""
    folder = project(tmp_path_factory.mktemp("broken"), BROKEN)
    return {
        f"original/{name}": run("train.py", [], device, folder)
        for name, device in (("cpu", "cpu"), ("device", "sim"), ("unchecked", "unchecked"))
    }


@pytest.mark.sample(16)
@pytest.mark.parametrize("patch", WRONG)
def test_a_wrong_patch_is_refused(patch: str, tmp_path: Path, originals: dict[str, Run]) -> None:
    source, word = WRONG[patch]
    found = verdict(tmp_path, BROKEN, source, known=originals)
    assert found.status == word, found.reason
    assert not found.good
    assert "\n" not in found.reason


RIGHT = {
    "another way to say it": edited(TO_DEVICE, "x = x.to(device); y = y.to(device, non_blocking=True)"),
    "by the name of the accelerator": edited(TO_DEVICE, "if device.type == 'cuda': x, y = x.cuda(), y.cuda()"),
    "by the place of a parameter": edited(
        TO_DEVICE, "where = next(model.parameters()).device; x, y = x.to(where), y.to(where)"
    ),
    "a move that is made twice": edited(TO_DEVICE, "x, y = x.to(device), y.to(device).to(device)"),
    "the time is printed": edited("import torch\n", "import time, torch\nprint(time.time(), time.perf_counter())\n"),
    "a file of a random name": edited(
        "import torch\n", "import tempfile, torch, uuid\nopen(uuid.uuid4().hex, 'w').write('x')\ntempfile.mkstemp()\n"
    ),
    "the process is named": edited("import torch\n", "import os, torch\nprint(os.getpid(), os.getcwd())\n"),
    "metrics that are taken on the cpu": edited(
        "    print",
        "    there = [p.grad.cpu().abs().mean(dim=-1) + 1 for p in model.parameters() for _ in range(9)]\n    print",
    ),
    "a prediction that is compared on the cpu": edited(
        "    print",
        "    for _ in range(20): right = (loss.detach().cpu().reshape(1) + y.cpu()).eq(y.cpu()).float().mean()\n    print",
    ),
    "memory is handed back": edited("    print", "    if device.type == 'cuda': torch.cuda.empty_cache()\n    print"),
    "the result is saved": FIXED + "torch.save(model.state_dict(), 'last.pt')\n",
}


@pytest.mark.sample(6)
@pytest.mark.parametrize("patch", RIGHT)
def test_a_right_patch_is_fixed_whatever_else_it_prints(patch: str, tmp_path: Path, originals: dict[str, Run]) -> None:
    found = verdict(tmp_path, BROKEN, RIGHT[patch], known=originals)
    assert found.status == "fixed", found.reason


def test_a_patch_of_a_sound_script_that_flees_is_refused(tmp_path: Path) -> None:
    found = verdict(tmp_path, FIXED, edited('"cuda" if torch.cuda.is_available() else "cpu"', '"cpu"'))
    assert (found.status, found.good) == ("moved-to-cpu", False), found.reason
    assert found.reason == "the forward pass does 0 % of its work on the accelerator instead of 100 %"


def test_a_patch_of_a_sound_script_is_no_error(tmp_path: Path) -> None:
    assert verdict(tmp_path, FIXED, FIXED + "# a remark\n").status == "no-error"


def test_a_script_that_insists_on_cuda_is_compared_with_an_accelerator_that_never_complains(tmp_path: Path) -> None:
    insists = ('torch.device("cuda" if torch.cuda.is_available() else "cpu")', 'torch.device("cuda")')
    found = verdict(tmp_path, edited(*insists, BROKEN), edited(*insists))
    assert (found.status, found.reference) == ("fixed", "original/unchecked"), found.reason
    assert found.runs["original/cpu"].device_error


FORGOTTEN = edited(
    "for x, y in", "model[3] = nn.Linear(16, 3).to(device)\nfor x, y in"
)  # the head is replaced after the optimizer was built
BUILT = next(line for line in FORGOTTEN.splitlines(keepends=True) if line.startswith("optimizer = "))
SILENT = edited("for x, y in", f"{BUILT}for x, y in", FORGOTTEN.replace(BUILT, ""))


def test_a_silent_bug_is_proved_by_the_parameters_that_start_to_train(tmp_path: Path) -> None:
    found = verdict(tmp_path, FORGOTTEN, SILENT)
    assert (found.status, found.silent, found.reference) == ("fixed", True, "patched/cpu"), found.reason
    assert "3×16" in found.reason
    assert found.runs["original/device"].forgotten == ((3, 16), (3,))


def test_a_silent_bug_is_no_excuse_for_another_training(tmp_path: Path) -> None:
    found = verdict(tmp_path, FORGOTTEN, edited("manual_seed(3)", "manual_seed(4)", SILENT))
    assert found.status == "loss-differs"
    assert "more parameters train, but already loss 1, before the first step, is" in found.reason


def test_losses_that_are_all_the_same_prove_nothing(tmp_path: Path) -> None:
    same = (
        "loss = nn.functional.cross_entropy(head(model(x)), y)",
        "loss = (head(model(x)) * 0 + y[:, None] * 0).sum()",
    )
    found = verdict(tmp_path, edited(*same, BROKEN), edited(*same))
    assert (found.status, "all losses are equal" in found.reason) == ("inconclusive", True), found.reason


@pytest.mark.parametrize(
    ("change", "status", "reason"),
    [
        pytest.param(("lr=1e-2", "lr=0.0"), "inconclusive", "no parameter changed", id="no update"),
        pytest.param(
            ("head(model(x)), y)", 'head(model(x)), y) * (float("nan") if len(seen) == 3 else 1)\n    seen.append(1)'),
            "inconclusive",
            "a loss is not finite",
            id="not a number",
        ),
    ],
)
def test_a_training_that_is_none_proves_nothing(
    tmp_path: Path, change: tuple[str, str], status: str, reason: str
) -> None:
    def changed(source: str) -> str:
        return edited(*change, source).replace("for x, y in", "seen = []\nfor x, y in")

    found = verdict(tmp_path, changed(BROKEN), changed(FIXED))
    assert (found.status, reason in found.reason) == (status, True), found.reason


EXTRA = "for x, y in", "extra = nn.Parameter(torch.zeros(2, 5, device=device))\nfor x, y in"


def test_other_parameters_that_get_a_gradient_are_another_training(tmp_path: Path, originals: dict[str, Run]) -> None:
    more = edited("head(model(x)), y)", "head(model(x)), y) + 0 * extra.sum()", edited(*EXTRA))
    found = verdict(tmp_path, BROKEN, more, known=originals)
    assert found.status == "loss-differs"
    assert found.reason == (
        "the training differs from original/cpu, although the recorded losses do not: 1 parameter now has a gradient "
        "(2×5)"
    )

    with_two, with_one = Run("sim", gradients=((3,), (2, 5))), Run("sim", gradients=((3,),))
    assert describe_gradient_change(with_one, with_two) == "1 parameter no longer has a gradient (2×5)"
    assert describe_gradient_change(with_two, with_two) is None


@pytest.mark.parametrize(
    ("added", "reason"),
    [
        ("scheduler.step()\n", "StepLR steps more times"),
        ("", "there is a step of Adam where the reference has a step of StepLR"),
    ],
)
def test_schedules_that_no_loss_shows_are_compared(tmp_path: Path, added: str, reason: str) -> None:
    made = "for x, y in", "scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 99)\nfor x, y in"
    broken, fixed = (edited(*made, source) for source in (BROKEN, FIXED))
    with_steps = "    optimizer.step()\n", "    optimizer.step()\n    scheduler.step()\n"
    found = verdict(tmp_path, edited(*with_steps, broken), (edited(*with_steps, fixed) if added else fixed) + added)
    assert found.status == "loss-differs"
    assert reason in found.reason


def test_outputs_prove_what_too_few_losses_do_not(tmp_path: Path) -> None:
    def shorter(script: str) -> str:
        return edited("batch_size=8", "batch_size=16", script)

    found = verdict(tmp_path / "printing", shorter(BROKEN), shorter(FIXED))
    assert found.status == "fixed"
    assert found.reason.startswith(
        "the outputs match: printed output (2 lines); the script has 2 losses and 2 optimizer steps; "
    )

    printing = '    print(f"loss {loss.item():.4f}")\n'
    silent = [shorter(script).replace(printing, "") for script in (BROKEN, FIXED)]
    found = verdict(tmp_path / "silent", *silent)
    assert found.status == "inconclusive"
    assert (
        "2 losses and 2 optimizer steps were recorded, at least 3 and 2 are required: let the script train longer"
        in found.reason
    )


TOKENS = """\
import torch
from torch import nn

torch.manual_seed(3)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Sequential(nn.Embedding(9, 6), nn.Linear(6, 9)).to(device)
bias = torch.randn(9)
tokens = torch.tensor([1, 4]).to(device)
with torch.inference_mode():
    for _ in range(4):
        scores = (model(tokens) + bias) / 0.8
        scores = scores.masked_fill(scores < -9.0, float("-inf"))
        tokens = scores.argmax(-1)
        print(*tokens.tolist())
"""


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("old", "new", "status"),
    [
        ("+ bias)", "+ bias.to(device))", "fixed"),
        ("bias = torch.randn(9)", "bias = torch.randn(9).to(device)", "fixed"),
        ("+ bias) / 0.8", "+ bias.to(device)) / 0.81", "inconclusive"),
        ("+ bias) / 0.8", "+ bias.to(device)) / 0.8 + 1e-3 * torch.eye(9, device=device)[:2]", "inconclusive"),
        ("        print(*tokens.tolist())\n", "", "not-fixed"),
    ],
)
def test_printed_tokens_are_a_proof_if_the_numbers_behind_them_agree(
    tmp_path: Path, old: str, new: str, status: str
) -> None:
    found = verdict(tmp_path, TOKENS, edited(old, new, TOKENS))
    assert found.status == status
    assert status != "fixed" or "(4 lines), and so do the numbers behind 8 choices" in found.reason


def test_a_script_that_is_not_deterministic_proves_nothing(tmp_path: Path) -> None:
    random = ("torch.manual_seed(3)", "import time; torch.manual_seed(time.perf_counter_ns() % 1000003)")
    found = verdict(tmp_path, edited(*random, BROKEN), edited(*random))
    assert found.status == "inconclusive"
    assert "nondeterministic" in found.reason


def test_what_the_simulator_does_not_model_proves_nothing(tmp_path: Path) -> None:
    kernel = (
        "if torch.cuda.is_available():\n"
        "    kernel = torch.cuda.jiterator._create_jit_fn('template <typename T> T f(T x) { return x; }')\n"
        "    try:\n        kernel(torch.ones(2).cuda())\n    except Exception:\n        pass\n"
        "for x, y in"
    )
    found = verdict(tmp_path, edited("for x, y in", kernel, BROKEN), edited("for x, y in", kernel))
    assert found.status == "inconclusive"
    assert "torch.cuda.jiterator" in found.reason


def test_a_script_that_fails_anywhere_proves_nothing(tmp_path: Path) -> None:
    found = verdict(tmp_path, "raise KeyError('x')\n", "raise KeyError('x')\n")
    assert found.status == "inconclusive"


_SHOWN = "import numpy\nkept = []\n" + BROKEN.replace("    print(f", "    kept.append(loss)\n    print(f")
_SHOWN_RIGHT = "import numpy\nkept = []\n" + FIXED.replace("    print(f", "    kept.append(loss.item())\n    print(f")


def test_a_script_that_fails_behind_its_training_without_an_accelerator_too_is_compared(tmp_path: Path) -> None:
    end = "print(numpy.mean(kept))\n"
    found = verdict(tmp_path, _SHOWN + end, _SHOWN_RIGHT + end)
    assert found.status == "fixed", found.reason
    assert "failed after its last step: RuntimeError" in found.reason
    assert found.reference == "original/cpu"


def test_a_script_that_fails_within_its_training_without_an_accelerator_too_is_not(tmp_path: Path) -> None:
    middle = "    if len(kept) == 3: raise KeyError('third')\n"
    healed = "    if len(kept) == 3: print('third')\n"
    found = verdict(tmp_path, _SHOWN + middle, _SHOWN_RIGHT + healed)
    assert found.status == "inconclusive", found.reason


def test_a_script_without_its_arguments_or_data_is_told_where_they_go() -> None:
    usage = Run("cpu", exit_code=2, output="usage: train.py --data DATA\ntrain.py: error: --data is required\n")
    assert describe_ending(usage) == (
        "ended with exit code 2: train.py: error: --data is required (pass the script's own arguments after --)"
    )
    missing = Run("cpu", failure=Failure("FileNotFoundError", "No such file: '../x.pt'", None, "a.py", 3, None, ""))
    assert describe_ending(missing).endswith(
        "at a.py:3 (the script runs in a copy of its project: set the working directory with --cwd)"
    )
    assert describe_ending(replace(missing, withheld="/home/me/x.pt")).endswith(
        "at a.py:3 (hidden from runs: make it readable with --allow-read /home/me/x.pt)"
    )
    read_only = Run(
        "cpu", failure=Failure("OSError", "[Errno 30] Read-only file system: '/x'", None, "a.py", 3, None, "")
    )
    assert describe_ending(read_only).endswith("(the run can only write to its project copy and to temporary folders)")
    offline = Run("cpu", failure=Failure("URLError", "[Errno -2] Name or service not known", None, "a.py", 3, None, ""))
    assert describe_ending(offline).endswith("(the run has no network access)")
    assert describe_ending(Run("cpu", exit_code=1)) == "ended with exit code 1"
    assert describe_ending(Run("cpu", exit_code=-9, output="x")).startswith("killed by SIGKILL (")


def test_a_checkpoint_that_cannot_be_read_without_an_accelerator(tmp_path: Path) -> None:
    save = 'torch.save(model.state_dict(), "last.pt")\n'
    source = (
        FIXED.replace(
            "for x, y in", "import sys\nif sys.argv[1:]:\n    model.load_state_dict(torch.load('last.pt'))\nfor x, y in"
        )
        + save
    )
    found = verdict(
        tmp_path,
        source,
        edited("load('last.pt')", "load('last.pt', map_location=device)", source),
        args=["resume"],
        setup=[],
        run_on="cpu",
    )
    assert found.status == "fixed", found.reason
    assert found.runs["original/device"].failure is not None
    assert found.runs["original/device"].failure.family == "load"


@pytest.mark.sample(1)
@pytest.mark.parametrize("after", ["continue", "break", "sys.exit(0)"])
def test_an_error_that_the_script_catches_is_an_error(tmp_path: Path, after: str) -> None:
    def caught(source: str) -> str:
        head, body = source.split("num_workers=2):\n")
        indented = "".join(f"    {line}\n" for line in body.splitlines())
        handler = f"    except RuntimeError as error:\n        print('skipped:', error)\n        {after}\n"
        return f"import sys\n{head}num_workers=2):\n    try:\n{indented}{handler}"

    found = verdict(tmp_path, caught(BROKEN), caught(FIXED))
    assert (found.status, found.runs["original/device"].ok) == ("fixed", True), found.reason
    assert "original error: the script caught the error" in found.reason

    wrong = verdict(tmp_path / "wrong", caught(BROKEN), caught(edited("manual_seed(3)", "manual_seed(4)")))
    assert wrong.status == "loss-differs", wrong.reason


def test_first_difference() -> None:
    nan = float("nan")
    assert first_difference([1.0, nan], [1.0, nan]) is None
    assert first_difference([1.0, 2.0], [1.0, 2.0000000000000004]) == 1
    assert first_difference([1.0], [1.0, 2.0]) == 1
