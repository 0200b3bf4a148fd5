"""``devfix verify``: the patch as a diff, or as what the working tree changes since a commit."""

import json
import subprocess

import pytest

pytest.importorskip("torch")

BROKEN = """\
import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Linear(4, 2).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    loss = model(torch.ones(8, 4)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
OLD, NEW = "torch.ones(8, 4)", "torch.ones(8, 4, device=device)"
DIFF = f"""\
--- a/train.py
+++ b/train.py
@@ -8 +8 @@
-    loss = model({OLD}).pow(2).mean()
+    loss = model({NEW}).pow(2).mean()
"""


@pytest.fixture
def repository(tmp_path):
    folder = tmp_path / "repository"
    folder.mkdir()
    (folder / "train.py").write_text(BROKEN)
    git(folder, "init", "-q")
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "broken")
    return folder


def git(folder, *words):
    names = ["-c", "user.name=Ann", "-c", "user.email=ann@example.org"]
    subprocess.run(["git", *names, *words], cwd=folder, check=True, capture_output=True)


def verdict(result):
    return json.loads(result.stdout)["verdict"]


def failing_line(result, run):
    return json.loads(result.stdout)["runs"][run]["failure"]["line"]


def test_edits_of_the_working_tree_are_verified(inside, repository):
    """New files belong to the patch; the original of a line is that of the commit."""
    edited = BROKEN.replace("import torch\n", "import torch\nfrom moves import device\n", 1).replace(OLD, NEW)
    (repository / "train.py").write_text(edited)
    (repository / "moves.py").write_text('import torch\n\ndevice = "cuda" if torch.cuda.is_available() else "cpu"\n')

    result = inside("verify", "train.py", "--since", "HEAD", "--output-format", "json", cwd=repository)

    assert (verdict(result), result.code) == ("fixed", 0)
    assert json.loads(result.stdout)["changed"] == ["moves.py", "train.py"]
    assert failing_line(result, "original/device") == 8
    assert (repository / "train.py").read_text() == edited


def test_a_wrong_edit_of_the_working_tree_is_refused(inside, repository):
    (repository / "train.py").write_text(BROKEN.replace("lr=0.1", "lr=0.2"))

    result = inside("verify", "train.py", "--since", "HEAD", "--output-format", "json", cwd=repository)

    assert (verdict(result), result.code) == ("not-fixed", 1)


def test_a_diff_is_verified_from_a_file_and_from_standard_input(inside, repository):
    (repository / "fix.diff").write_text(DIFF)

    named = inside("verify", "train.py", "--patched", "fix.diff", "--output-format", "json", cwd=repository)
    piped = inside(
        "verify", "train.py", "--patched", "-", "--output-format", "json", cwd=repository, stdin=DIFF.encode()
    )

    assert (verdict(named), verdict(piped)) == ("fixed", "fixed")
    assert (repository / "train.py").read_text() == BROKEN


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--since", "nowhere"), "devfix: --since: 'nowhere' is no commit, branch or tag of {folder}"),
        (("--patched", "other.diff"), "devfix: other.diff does not apply to {folder}: git apply: "),
        (("--patched", "empty.diff"), "devfix: empty.diff: no unified diff"),
        (("--patched", "outside.diff"), "devfix: outside.diff does not apply to {folder}: git apply: "),
        (("--patched", "empty.diff", "--since", "HEAD"), "devfix: --patched and --since exclude each other\n"),
        (("--since", "HEAD", "--unsafe-fixes"), "devfix: --since and --unsafe-fixes exclude each other\n"),
    ],
)
def test_what_cannot_be_verified_is_told_in_one_line(inside, repository, options, told):
    (repository / "other.diff").write_text(DIFF.replace("@@ -8 +8 @@\n-    loss", "@@ -8 +8 @@\n-    cost"))
    (repository / "outside.diff").write_text(DIFF.replace("train.py", "../train.py"))
    (repository / "empty.diff").write_text("")

    result = inside("verify", "train.py", *options, cwd=repository)

    assert result.code == 2
    assert result.stderr.startswith(told.format(folder=repository))


def test_unsafe_fixes_are_verified_if_they_are_asked_for(inside, tmp_path):
    """Layers in a plain list: once they are registered, the optimizer trains them, too."""
    layers = "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
    layers += "        self.layers = [nn.Linear(4, 2)]\n        self.bias = nn.Parameter(torch.zeros(2))\n\n"
    layers += "    def forward(self, x):\n        return self.layers[0](x) + self.bias\n\n\nmodel = Net()"
    program = BROKEN.replace("model = nn.Linear(4, 2)", layers).replace(OLD, NEW)
    (tmp_path / "train.py").write_text(program)

    left = inside("verify", "train.py", "--output-format", "json", cwd=tmp_path)
    result = inside("verify", "train.py", "--unsafe-fixes", "--output-format", "agent", cwd=tmp_path)

    assert (verdict(left), left.code) == ("not-fixed", 1)
    assert result.code == 0
    assert result.stdout.decode().rstrip().endswith("devfix apply train.py --unsafe-fixes")
    assert (tmp_path / "train.py").read_text() == program
