"""Where the weights are that the files of a project save."""

from __future__ import annotations

from pathlib import Path

import pytest

from devfix.analysis.program import Program
from devfix.analysis.torch.saved_states import Saved, saved_states, saves_on_cpu
from devfix.syntax.tree import SourceTree

HEAD = "import torch\n\ndevice = torch.device('cuda')\n\n"

ON_CPU = {
    "whole": "torch.save(model.cpu(), path)",
    "state": "torch.save(model.cpu().state_dict(), path)",
    "of-a-part": "model.to('cpu')\n    torch.save(model.net.state_dict(), path)",
    "after-eval": "model.eval().cpu()\n    torch.save(model.state_dict(), path)",
    "in-a-dictionary": "kept = {'epoch': 3, 'model': model.cpu()}\n    torch.save(kept, path)",
    "each-value": "torch.save({k: v.cpu() for k, v in model.state_dict().items()}, path)",
    "each-pair": "pairs = OrderedDict([[k, v.cpu()] for k, v in model.state_dict().items()])\n"
    "    torch.save(pairs, path)",
    "by-key": "state = model.state_dict()\n    for key in state:\n"
    "        state[key] = state[key].to(torch.device('cpu'))\n    torch.save(state, path)",
    "beside-the-scheduler": "kept = {'model': model.cpu().state_dict(), 'lr': scheduler.state_dict()}\n"
    "    torch.save(kept, path)",
    "moved-in-the-call-of-a-part": "part = model.module if many else model\n"
    "    torch.save(part.cpu().state_dict(), path)",
    "added": "kept = {}\n    kept.update(model=model.cpu().state_dict())\n    torch.save(kept, path)",
    "assigned": "model = model.cpu()\n    torch.save(model.state_dict(), path)",
    "by-keyword": "model.to(device='cpu')\n    torch.save(model.state_dict(), path)",
    "copied": "torch.save(copy.deepcopy(model).cpu().state_dict(), path)",
}
ANYWHERE = {
    "beside-the-optimizer": "kept = {'model': model.cpu().state_dict(), 'adam': optimizer.state_dict()}\n"
    "    torch.save(kept, path)",
    "constructed": "model = Net().to(device)\n    torch.save(model, path)",
    "built": "model = build_model(1).cuda()\n    torch.save(model.state_dict(), path)",
    "used-as-a-module": "this = f(1).cuda()\n    this.train()\n    torch.save(this, path)",
    "by-keyword": "torch.save(obj=model.state_dict(), f=path)",
    "some-keys": "state = model.state_dict()\n    for key in state:\n        if 'x' in key:\n"
    "            state[key] = state[key].cpu()\n    torch.save(state, path)",
    "bound-again": "state = model.state_dict()\n    for key in state:\n        state[key] = state[key].cpu()\n"
    "    state = model.state_dict()\n    torch.save(state, path)",
    "moved-in-another-function": "def export():\n        model.cpu()\n    torch.save(model.state_dict(), path)",
    "moved-in-one-case": "match path:\n        case 'x':\n            model.cpu()\n"
    "    torch.save(model.state_dict(), path)",
    "beside-buffers": "torch.save({'model': model.cpu().state_dict(), 'queue': model.queue}, path)",
    "short-names": "torch.save({'G': G, 'D': D}, path)",
    "appended": "kept = []\n    kept.append(model.state_dict())\n    torch.save(kept, path)",
    "added-by-update": "kept = {'a': model.cpu().state_dict()}\n    kept.update(b=other.state_dict())\n"
    "    torch.save(kept, path)",
    "each-of-the-other": "a = b\n    b = a\n    " * 30 + "torch.save(a, path)",
    "state": "torch.save(model.state_dict(), path)",
    "whole": "torch.save(model, path)",
    "in-a-dictionary": "torch.save({'epoch': 3, 'model': model.state_dict()}, path)",
    "one-of-two": "torch.save({'a': model.cpu().state_dict(), 'b': other.state_dict()}, path)",
    "another-moves": "loss.cpu()\n    torch.save(model.state_dict(), path)",
    "made-elsewhere": "torch.save(checkpoint_of(model), path)",
    "moved-later": "torch.save(model.state_dict(), path)\n    model.cpu()",
    "moved-back": "model.cpu()\n    show(model)\n    model.cuda()\n    torch.save(model.state_dict(), path)",
    "moved-on-one-path": "if small:\n        model.cpu()\n    torch.save(model.state_dict(), path)",
    "to-the-best-device": "model.to('cuda' if torch.cuda.is_available() else 'cpu')\n"
    "    torch.save(model.state_dict(), path)",
    "assigned-to-the-device": "model = model.to(device)\n    torch.save(model.state_dict(), path)",
    "beside-a-loss": "torch.save(dict(model=model.state_dict(), loss=loss.cpu()), path)",
    "beside-an-entry": "kept = {'model': model.state_dict()}\n    kept['loss'] = loss.cpu()\n"
    "    torch.save(kept, path)",
    "an-argument-moves": "self.log('loss', loss.cpu())\n    torch.save(self.model.state_dict(), path)",
    "some-values": "torch.save({k: v.cpu() if k == 'n' else v for k, v in model.state_dict().items()}, path)",
    "lists": "kept = [[] for _ in range(3)]\n    torch.save(kept, path)",
    "almost-an-optimizer": "torch.save(optimal.state_dict(), path)",
    "a-parameter": "torch.save({'net': path}, 'x')",
}
NOTHING = {
    "what-a-module-computes": "out = model(path)\n    torch.save(out.cpu(), path)",
    "features": "torch.save({'preds': model(path).detach().cpu()}, path)",
    "optimizer": "torch.save(optimizer.state_dict(), path)",
    "json": "json.save(model.state_dict(), path)",
    "numbers": "torch.save({'epoch': 3, 'best': best}, path)",
}


def found(body, start=HEAD):
    return saved_states(SourceTree("train.py", f"{start}def keep(model, path):\n    {body}\n"))


@pytest.mark.parametrize("body", ON_CPU.values(), ids=ON_CPU)
def test_weights_that_are_moved_before_are_on_the_cpu(body):
    assert found(body) == {Saved.ON_CPU}


@pytest.mark.parametrize("body", ANYWHERE.values(), ids=ANYWHERE)
def test_other_weights_are_where_the_program_works(body):
    assert Saved.ANYWHERE in found(body)


@pytest.mark.parametrize("body", NOTHING.values(), ids=NOTHING)
def test_what_holds_no_weights_says_nothing(body):
    assert found(body) == set()


def test_a_file_that_names_no_device_saves_what_it_is_given():
    assert found("state = convert(path)\n    torch.save(state, path)", "import torch\n\n") == set()
    assert found("torch.save(model, path)", "import torch\n\n") == {Saved.ANYWHERE}


def test_a_name_of_the_function_is_followed():
    head = HEAD.replace("import torch", "import torch\nfrom torch import save")
    assert found("save(model.state_dict(), path)", head) == {Saved.ANYWHERE}


def test_a_name_of_torch_is_followed():
    assert found("t.save(model.cpu(), path)", HEAD.replace("import torch", "import torch as t")) == {Saved.ON_CPU}


@pytest.mark.parametrize(
    ("files", "answer"),
    [
        pytest.param({"train.py": ON_CPU["state"]}, True, id="beside-it"),
        pytest.param({"train.py": ON_CPU["state"], "export.py": ANYWHERE["state"]}, False, id="two-ways"),
        pytest.param({"lib/saving.py": ON_CPU["state"]}, True, id="in-a-subfolder"),
        pytest.param({"../train.py": ON_CPU["state"]}, True, id="above"),
        pytest.param({"train.py": ANYWHERE["state"], "../other.py": ON_CPU["state"]}, False, id="the-nearest-decides"),
        pytest.param({"train.py": "print(model)"}, False, id="nobody-saves"),
        pytest.param({"tests/test_saving.py": ON_CPU["state"]}, False, id="a-test"),
        pytest.param({"test_saving.py": ON_CPU["state"], "train.py": ANYWHERE["state"]}, False, id="beside-a-test"),
        pytest.param({f"a{i}/b.py": ON_CPU["state"] for i in range(80)}, False, id="too-many-folders"),
        pytest.param({"broken.py": ON_CPU["state"] + "("}, False, id="not-parsed"),
    ],
)
def test_the_nearest_folder_that_saves_decides(tmp_path, files, answer):
    folder = tmp_path / "tools"
    for name, body in {**files, "test.py": "pass"}.items():
        path = (folder / name).resolve()
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{HEAD}def keep(model, path):\n    {body}\n", encoding="utf-8")
    program = Program(lambda path: Path(path).read_text(encoding="utf-8"), str(tmp_path))
    program.search_from(str(folder / "test.py"))

    assert saves_on_cpu(program) is answer
    assert program.trees() == []
