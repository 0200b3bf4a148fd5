"""Evidence besides the losses: what a run does outside its training steps, and whether its record can be trusted."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch")

import torch

from devfix.verify import Run, Verdict, prove, run
from devfix.verify.probe.recipe import Recipe

from .scripts import edited, project

pytestmark = pytest.mark.sample(18)  # each takes seconds

#: The evaluation has the device error; the training has none.
BROKEN = """\
import torch
from torch import nn

torch.manual_seed(3)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Sequential(nn.Linear(4, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Dropout(0.2), nn.Linear(16, 3)).to(device)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
scheduler = torch.optim.lr_scheduler.LinearLR(optimizer, 1e-4, total_iters=100)
xs, ys = torch.randn(32, 4), torch.randint(3, (32,))
for x, y in zip(xs.split(8), ys.split(8)):
    x, y = x.to(device), y.to(device)
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scheduler.step()


def evaluate():
    model.eval()
    right = 0
    with torch.no_grad():
        for x, y in zip(xs.split(8), ys.split(8)):
            right += (model(x).argmax(1) == y).sum().item()
    model.train()
    return right / len(xs)


evaluate()
"""

MOVE = "            right += (model(x.to(device)).argmax(1) == y.to(device))"
FIXED = edited("            right += (model(x).argmax(1) == y)", MOVE, BROKEN)


@pytest.fixture(scope="module")
def originals(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Run]:
    """The runs of the broken script, which are the same for every patch."""
    folder = project(tmp_path_factory.mktemp("broken"), BROKEN)
    return {
        f"original/{name}": run("train.py", [], device, folder)
        for name, device in (("cpu", "cpu"), ("device", "sim"), ("unchecked", "unchecked"))
    }


def verdict(patched: str, folder: Path, originals: dict[str, Run]) -> Verdict:
    return prove(project(folder / "a", BROKEN), project(folder / "b", patched), "train.py", known=originals)


RIGHT = {
    "the author's edit": FIXED,
    "moved once": edited(
        "    model.eval()\n", "    model.eval()\n    global xs, ys\n    xs, ys = xs.to(device), ys.to(device)\n", BROKEN
    ),
    "the labels stay": edited("model(x).argmax(1)", "model(x.to(device)).argmax(1).cpu()", BROKEN),
}

ON_CUDA = "if device.type == 'cuda': "
STEP = "    optimizer.step()\n"

WRONG = {
    "errors are swallowed": (
        edited(
            "evaluate()\n",
            "try:\n    evaluate()\nexcept RuntimeError:\n    model.train()\n",
            BROKEN.replace("def evaluate()", "def evaluate ()"),
        ).replace("def evaluate ()", "def evaluate()"),
        "output-differs",
    ),
    "skipped": (BROKEN.removesuffix("evaluate()\n"), "output-differs"),
    "in training mode": (edited("    model.eval()\n", "", FIXED), "output-differs"),
    "with gradients": (edited("with torch.no_grad():", "if True:", FIXED), "output-differs"),
    "half of the samples": (
        edited("        for x, y in zip(xs.split(8), ys", "        for x, y in zip(xs[:16].split(8), ys", FIXED),
        "output-differs",
    ),
    "a constant": (edited("    return right / len(xs)", "    return 0.5", FIXED), "output-differs"),
    "on the CPU": (edited("model(x).argmax(1)", "model.cpu()(x).argmax(1)", BROKEN), "moved-to-cpu"),
    "a higher learning rate on the accelerator": (
        edited(
            "xs, ys = torch.randn",
            f"{ON_CUDA}optimizer.param_groups[0]['lr'] *= 1.01\nxs, ys = torch.randn",
            FIXED,
        ),
        "loss-differs",
    ),
    "more decay on the accelerator": (
        edited(STEP, f"    {ON_CUDA}optimizer.param_groups[0]['weight_decay'] = 0.1\n{STEP}", FIXED),
        "loss-differs",
    ),
    "amsgrad on the accelerator": (
        edited("lr=1e-2)", "lr=1e-2, amsgrad=device.type == 'cuda')", FIXED),
        "loss-differs",
    ),
    "clipping that is never reached": (
        edited(STEP, f"    {ON_CUDA}nn.utils.clip_grad_norm_(model.parameters(), 1e9)\n{STEP}", FIXED),
        "loss-differs",
    ),
    "other data for the evaluation": (
        edited(
            "            right += (model(x.to(device))",
            "            right += (model(x.to(device).flip(0)[:1].expand(8, 4))",
            FIXED,
        ),
        "output-differs",
    ),
    "a schedule that goes on differently": (
        edited(
            "total_iters=100)",
            "total_iters=100 if device.type == 'cpu' else 100, end_factor=1.0 if device.type == 'cpu' else 0.99999)",
            FIXED,
        ),
        "loss-differs",
    ),
    "statistics of the normalization": (FIXED + f"{ON_CUDA}model[1].running_mean.zero_()\n", "output-differs"),
    "other random numbers": (FIXED + f"{ON_CUDA}torch.rand(1)\n", "output-differs"),
    "another learning rate on the CPU": (
        edited("lr=1e-2)", "lr=1e-2 if device.type == 'cuda' else 2e-2)", FIXED),
        "loss-differs",
    ),
}


@pytest.mark.parametrize("patch", RIGHT)
def test_right_repairs_of_an_evaluation_are_fixed(patch: str, tmp_path: Path, originals: dict[str, Run]) -> None:
    found = verdict(RIGHT[patch], tmp_path, originals)

    assert found.status == "fixed", found.reason


@pytest.mark.sample(8)
@pytest.mark.parametrize("patch", WRONG)
def test_patches_that_spoil_something_else_are_refused(patch: str, tmp_path: Path, originals: dict[str, Run]) -> None:
    patched, status = WRONG[patch]
    found = verdict(patched, tmp_path, originals)

    assert found.status == status, found.reason


def test_a_caught_error_is_found_among_times_and_paths(tmp_path: Path) -> None:
    noise = "import os, time\nprint(f'started {time.time_ns()} in {os.getcwd()}')\n"
    caught = "try:\n    print('accuracy', evaluate())\nexcept RuntimeError:\n    model.train()\n"

    def written(script: str) -> str:
        return noise + script.removesuffix("evaluate()\n") + caught

    found = prove(project(tmp_path / "a", written(BROKEN)), project(tmp_path / "b", written(FIXED)), "train.py")

    assert found.status == "fixed", found.reason
    assert "the script caught the error" in found.reason


FORGED = {
    "the backward pass is replaced": "torch.autograd.backward = lambda *args, **kwargs: None\n",
    "the recorder's list is edited": (
        "import gc\n"
        "for each in gc.get_objects():\n"
        "    if type(each).__name__ == 'Recorder': type(each).results = lambda self: {}\n"
    ),
    "the encoder is replaced": "import json\njson.dumps = lambda report: '{}'\n",
    "the hooks are removed": "import sys\nsys.modules['torch.optim.optimizer']._global_optimizer_pre_hooks.clear()\n",
}


@pytest.mark.parametrize("forgery", FORGED)
def test_a_script_that_replaces_the_recorder_is_found_out(
    forgery: str, tmp_path: Path, originals: dict[str, Run]
) -> None:
    found = verdict(FIXED + FORGED[forgery], tmp_path, originals)

    assert not found.good
    assert "replaced" in found.reason


def test_a_report_that_the_script_writes_is_not_read(tmp_path: Path) -> None:
    forged = (
        "import glob, json, os\n"
        "text = json.dumps({'losses': [1.0, 2.0, 3.0], 'steps': 3, 'exit_code': 0, 'exception': None}).encode()\n"
        "for path in [*glob.glob('../report*'), *glob.glob('/tmp/devfix-report*'), *glob.glob('/proc/self/fd/*')]:\n"
        "    try:\n"
        "        with open(path, 'r+b') as target: target.write(bytes(32) + len(text).to_bytes(8, 'big') + text)\n"
        "    except OSError: pass\n"
        "os._exit(0)\n"
    )
    found = run("train.py", [], "cpu", project(tmp_path, forged))

    assert (found.ok, found.losses, found.has_report) == (False, (), False)


SPARSE = """\
import torch
from torch import nn

torch.manual_seed(0)
device = "cuda" if torch.cuda.is_available() else "cpu"
words, contexts = (nn.Embedding(50, 3, sparse=True).to(device) for _ in range(2))
optimizer = torch.optim.SparseAdam([words.weight], lr=0.1)  # the contexts do not train
for step in range(4):
    at = torch.randint(0, 50, (4,)){moved}
    loss = (words(at) * contexts(at)).sum() + contexts(at + 0).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def test_the_number_of_characters_that_a_script_writes_is_no_result(tmp_path: Path) -> None:
    done = run("train.py", cwd=project(tmp_path, "import sys\nsys.stdout.write('a')\nabs(-0.5)\n"), device="cpu")

    assert done.returned == ("0.5",)


def test_sparse_gradients_are_recorded(tmp_path: Path) -> None:
    found = prove(
        project(tmp_path / "a", SPARSE.format(moved="")),
        project(tmp_path / "b", SPARSE.format(moved=".to(device)")),
        "train.py",
    )

    assert found.status == "fixed", found.reason


TEACHER = """\
import torch
from torch import nn

torch.manual_seed(0)
device = "cuda" if torch.cuda.is_available() else "cpu"
teacher = nn.Linear(4, 4){placed}.eval()
student = nn.Linear(4, 4).to(device)
optimizer = torch.optim.SGD(student.parameters(), lr=0.1)
for step in range(4):
    x = torch.randn(8, 4, device=device)
    with torch.no_grad():
        target = teacher(x{there}){back}
    loss = (student(x) - target).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize(("placed", "status"), [("", "moved-to-cpu"), (".cpu()", "fixed")])
def test_a_network_computes_on_the_cpu_only_if_the_program_sent_it_there(
    placed: str, status: str, tmp_path: Path
) -> None:
    found = prove(
        project(tmp_path / "a", TEACHER.format(placed=placed, there="", back="")),
        project(tmp_path / "b", TEACHER.format(placed=placed, there=".cpu()", back=".to(device)")),
        "train.py",
    )

    assert found.status == status, found.reason


METER = """\
import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.manual_seed(0)
model = nn.Linear(4, 2).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
hits = torch.zeros(2)
for step in range(4):
    x = torch.randn(8, 4).to(device)
    y = torch.randint(0, 2, (8,)).to(device)
    scores = model(x)
    loss = nn.functional.cross_entropy(scores, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    hits += (scores.argmax(1) == y).float().mean()[None].expand(2)
print("hits", hits.tolist())
"""


@pytest.mark.parametrize(
    ("repair", "status"),
    [("hits = hits.to(device)\n    hits", "fixed"), ("counted = hits.to(device)\n    counted", "output-differs")],
)
def test_a_counter_that_counts_nothing_is_found_in_what_is_printed(repair: str, status: str, tmp_path: Path) -> None:
    repaired = METER.replace("    hits +=", f"    {repair} +=")
    found = prove(project(tmp_path / "a", METER), project(tmp_path / "b", repaired), "train.py")

    assert found.status == status, found.reason
    if status != "fixed":
        assert found.differences[0].ours == "`hits [0.0, 0.0]`"


INFERENCE = """\
import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.manual_seed(0)
model = nn.Linear(4, 2).to(device).eval()
x = torch.randn(8, 4)
with torch.no_grad():
    scores = model(x)
"""


@pytest.mark.parametrize(
    ("ending", "status"),
    [
        ("print(scores.mean().item())\n", "fixed"),
        ("torch.save(scores, 'scores.pt')\n", "fixed"),
        ("print('done')\n", "inconclusive"),
        ("", "inconclusive"),
    ],
)
def test_a_script_without_training_is_proved_by_its_outputs(ending: str, status: str, tmp_path: Path) -> None:
    original, patched = INFERENCE + ending, INFERENCE.replace("model(x)", "model(x.to(device))") + ending
    found = prove(project(tmp_path / "a", original), project(tmp_path / "b", patched), "train.py")

    assert found.status == status, found.reason
    if status == "fixed":
        assert found.reason.startswith("the outputs match: ")


def test_outputs_of_an_original_that_fails_everywhere_prove_nothing(tmp_path: Path) -> None:
    result = "print(scores.mean().item())\n"
    original = INFERENCE + result + "raise KeyError('result')\n"
    patched = INFERENCE.replace("model(x)", "model(x.to(device))") + result
    found = prove(project(tmp_path / "a", original), project(tmp_path / "b", patched), "train.py")

    assert found.status == "inconclusive", found.reason


def test_losses_without_steps_are_proved_by_outputs(tmp_path: Path) -> None:
    losses = (
        "for part in x.split(2):\n"
        "    loss = nn.functional.mse_loss(model(part{moved}), torch.ones(2, 2, device=device))\n"
        "    loss.requires_grad_().backward()\n"
        "    print(loss.item())\n"
    )
    start = INFERENCE.split("with torch.no_grad")[0]
    original, patched = (start + losses.format(moved=each) for each in ("", ".to(device)"))
    found = prove(project(tmp_path / "a", original), project(tmp_path / "b", patched), "train.py")

    assert found.status == "fixed", found.reason
    assert "; the script has 4 losses and no optimizer steps; " in found.reason


def test_results_that_appear_only_under_observation_prove_nothing(tmp_path: Path) -> None:
    detection = "import sys\nif any('probe' in name for name in sys.modules): print(scores.mean().item())\n"
    patched = INFERENCE.replace("model(x)", "model(x.to(device))")
    original = INFERENCE + "print(scores.mean().item())\n"
    found = prove(project(tmp_path / "a", original), project(tmp_path / "b", patched + detection), "train.py")

    assert found.status == "inconclusive", found.reason
    assert "without the recorder" in found.reason


LATE = """\
import atexit, json, sys, threading, time
import torch
from torch import nn

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Linear(4, 2).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
weights = torch.tensor([1.0, 2.0])
started = time.perf_counter()
best = float("inf")


def train():
    global best
    for step in range(5):
        loss = (model(torch.randn(8, 4).to(device)).square() * weights).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if loss.item() < best:
            best = loss.item()
            print("new best")
    print(f"travel time error {best:.4f} s ({time.perf_counter() - started:.2f} s)")
    json.dump({"speed": best, "time": time.perf_counter() - started}, open("metrics.json", "w"))


def report():
    print(f"the end: {model.bias.sum().item():.6f}")


atexit.register(report)
train()
"""
PLACED = edited("torch.tensor([1.0, 2.0])", "torch.tensor([1.0, 2.0], device=device)", LATE)


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("model.bias.sum().item()", "0.0"),
        ("time error {best:.4f}", "time error {0.7 * best:.4f}"),
        ('"speed": best', '"speed": 0.7 * best'),
        ("            best = loss.item()\n", ""),
        ("atexit.register(report)\n", ""),
    ],
    ids=["exit handler", "printed with a unit", "named as a speed", "printed more often", "handler removed"],
)
def test_results_that_look_like_noise_are_compared(old: str, new: str, tmp_path: Path) -> None:
    found = prove(project(tmp_path / "a", LATE), project(tmp_path / "b", edited(old, new, PLACED)), "train.py")

    assert found.status == "output-differs", found.reason


def test_times_are_no_results(tmp_path: Path) -> None:
    found = prove(project(tmp_path / "a", LATE), project(tmp_path / "b", PLACED), "train.py")

    assert found.status == "fixed", found.reason


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    "started",
    [
        "thread = threading.Thread(target=train)\nthread.start()\nthread.join()\n",
        "try:\n    train()\nexcept RuntimeError:\n    print('skipped')\n",
    ],
    ids=["in a thread", "caught"],
)
@pytest.mark.parametrize(("patched", "status"), [(LATE, "not-fixed"), (PLACED, "fixed")], ids=["useless", "right"])
def test_an_error_that_does_not_end_the_script_remains(started: str, patched: str, status: str, tmp_path: Path) -> None:
    def starting(script: str) -> str:
        return script.removesuffix("train()\n") + started

    found = prove(project(tmp_path / "a", starting(LATE)), project(tmp_path / "b", starting(patched)), "train.py")

    assert found.status == status, found.reason


SCALED = """\
import numpy
import torch
from torch import nn

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Linear(4, 2)
model.scale = torch.ones(2)
model.to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
losses = []
for step in range(5):
    loss = (model(torch.randn(8, 4, device=device)) * model.scale).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.detach().cpu())
print(numpy.mean(losses))
"""


def test_a_parameter_that_does_not_train_is_no_other_training(tmp_path: Path) -> None:
    patched = edited("torch.ones(2)", "nn.Parameter(torch.ones(2), requires_grad=False)", SCALED)
    found = prove(project(tmp_path / "a", SCALED), project(tmp_path / "b", patched), "train.py")

    assert found.status == "fixed", found.reason


def test_a_mean_of_numbers_is_the_mean_of_tensors(tmp_path: Path) -> None:
    right = edited("torch.ones(2)", "torch.ones(2, device=device)", SCALED)
    original = edited("loss.detach().cpu()", "loss.detach()", right)
    patched = edited("loss.detach().cpu()", "loss.item()", right)
    found = prove(project(tmp_path / "a", original), project(tmp_path / "b", patched), "train.py")

    assert found.status == "fixed", found.reason


def test_the_parameters_that_train_are_recorded_at_each_step() -> None:
    small, large = (torch.nn.Parameter(torch.ones(size)) for size in (2, 3))
    optimizer = torch.optim.SGD([small, large], lr=0.1)
    recipe = Recipe()
    for frozen, training in ((small, large), (large, small)):
        frozen.requires_grad_(False)
        training.requires_grad_(True)
        recipe.note_optimizer(optimizer)

    first, second = recipe.results()["recipe"]
    assert first[1][0]["params"] != second[1][0]["params"]


#: Mixed precision and noise on an accelerator only, and weights that are tied and saved with the module.
THERE = """\
import torch
from torch import nn

there = torch.cuda.is_available()
device = torch.device("cuda" if there else "cpu")
torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.encode, self.decode = nn.Linear(8, 16), nn.Linear(8, 16)
        self.decode.weight = self.encode.weight
        self.offset = torch.full((16,), 0.1)

    def forward(self, x):
        return nn.functional.dropout(self.encode(x) + self.decode(x) + self.offset, 0.2)


net = Net().to(device)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
for step in range(4):
    x = torch.randn(12, 8).to(device)
    with torch.autocast("cuda", torch.float16, enabled=there):
        loss = (net(x) @ net.encode.weight - x).float().square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
torch.save(net, "net.pt")
"""


STEP = """\
    loss.backward()
    optimizer.step()
"""
STEP_ON_THE_CPU = """\
    loss.backward()
    copies = [each.detach().cpu().requires_grad_() for each in net.parameters()]
    for mine, copy in zip(net.parameters(), copies):
        copy.grad = mine.grad.cpu()
    optimizer.param_groups[0]["params"] = copies
    optimizer.step()
    optimizer.param_groups[0]["params"] = list(net.parameters())
    with torch.no_grad():
        for mine, copy in zip(net.parameters(), copies):
            mine.copy_(copy)
"""


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    ("old", "new", "status", "reason"),
    [
        pytest.param("", "", "fixed", "match original/unchecked", id="right"),
        pytest.param("there = torch.cuda.is_available()", "there = False", "loss-differs", "unchecked", id="settings"),
        pytest.param("float16, enabled=there", "float16, enabled=False", "loss-differs", "unchecked", id="precision"),
        pytest.param(
            "    with torch.autocast",
            "    if there:\n        torch.cuda.manual_seed(3)\n    with torch.autocast",
            "output-differs",
            "own generator is 4 instead of 0",
            id="seeds",
        ),
        pytest.param(
            "net = Net()",
            "torch.set_float32_matmul_precision('medium')\nnet = Net()",
            "output-differs",
            "precision of matrix products is medium instead of highest",
            id="tf32",
        ),
        pytest.param(
            "net = Net()",
            "torch.backends.cudnn.benchmark = True\nnet = Net()",
            "output-differs",
            "the choice of kernels is cuDNN benchmark instead of PyTorch's own",
            id="benchmark",
        ),
        pytest.param(
            STEP,
            STEP_ON_THE_CPU,
            "moved-to-cpu",
            "number of updates there is 12 instead of 0",
            id="optimizer",
        ),
        pytest.param(
            "torch.save(net",
            "net.decode.weight = nn.Parameter(net.encode.weight.clone())\ntorch.save(net",
            "output-differs",
            "is_shared",
            id="tied",
        ),
        pytest.param(
            "torch.save(net",
            "net.requires_grad_(False)\ntorch.save(net",
            "output-differs",
            "requires_grad",
            id="frozen",
        ),
        pytest.param(
            "self.encode(x) + self.decode(x) + self.offset.to(x.device)",
            "((self.encode(x) + self.decode(x)).cpu() + self.offset).to(x.device)",
            "moved-to-cpu",
            "gradients that return from there is 4 instead of 0",
            id="addition",
        ),
    ],
)
def test_what_happens_on_the_accelerator_only_is_compared(
    old: str, new: str, status: str, reason: str, tmp_path: Path
) -> None:
    right = THERE.replace("+ self.offset,", "+ self.offset.to(x.device),")
    assert not old or right.count(old) == 1
    found = prove(project(tmp_path / "a", THERE), project(tmp_path / "b", right.replace(old, new)), "train.py")

    assert (found.status, reason in found.reason) == (status, True), found.reason
