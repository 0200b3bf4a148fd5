"""What a job of the pull request leaves is a claim: findings and patch are made again, and only those are posted."""

from __future__ import annotations

import hashlib
import json

import pytest
from bot.conftest import BROKEN, CONFIGURATION

FIXED = b"+    loss = model(torch.randn(8, 4).to(device)).sum()"
EVIL = b"+    import os; os.system('id')"
EVIDENCE = {
    "status": "fixed",
    "reason": "the losses are equal",
    "good": True,
    "where": "the simulator",
    "command": "train.py",
    "runs": [],
}


@pytest.fixture
def claim(bot, job, pull, tmp_path):
    """The artifact of a job that the pull request controls."""
    job(pull, token="")
    result = bot("review", "--artifact", tmp_path / "claim")
    assert result.code == 0, result.stderr
    return tmp_path / "claim"


@pytest.fixture
def recompute(bot, job, github, pull, tmp_path):
    """``devfix bot recompute`` in a job of the default branch's workflow, which holds no token."""

    def call(claim, **changes):
        workflow_run(job, github, pull, token="", **changes)
        return bot("recompute", claim, "--artifact", tmp_path / "artifact")

    return call


@pytest.fixture
def post(bot, job, github, pull, tmp_path):
    def call(digest, folder=tmp_path / "artifact"):
        workflow_run(job, github, pull)
        return bot("post", folder, "--digest", digest)

    return call


def workflow_run(job, github, pull, token=None, **changes):
    head = github.pulls[pull]["head"]
    run = {"head_sha": head["sha"], "head_repository": {"full_name": head["repo"]["full_name"]}, **changes}
    given = {} if token is None else {"token": token}
    job(None, event="workflow_run", payload={"workflow_run": run}, **given)


def read(folder):
    return json.loads((folder / "manifest.json").read_text())


def edit(folder, patch=None, **changes):
    document = {**read(folder), **changes}
    if patch is not None:
        (folder / "devfix.patch").write_bytes(patch)
        document["patch"] = {"sha256": hashlib.sha256(patch).hexdigest(), "size": len(patch)}
    (folder / "manifest.json").write_text(json.dumps(document))


def forge(claim):
    """Let the claim's patch run a command, under a verdict that says that it is proved."""
    patch = (claim / "devfix.patch").read_bytes()
    after = BROKEN.replace("loss = model(torch.randn(8, 4)).sum()", "import os; os.system('id')").encode()
    files = [{**read(claim)["files"][0], "after": hashlib.sha256(after).hexdigest()}]
    edit(claim, patch.replace(FIXED, EVIL), files=files, evidence=EVIDENCE, not_verified="")


def test_a_forged_patch_is_replaced_by_devfix_s_own(claim, recompute, post, github, pull, tmp_path):
    forge(claim)

    made = recompute(claim)

    assert made.code == 0, made.stderr
    assert github.calls == []
    patch = (tmp_path / "artifact" / "devfix.patch").read_bytes()
    assert FIXED in patch and b"os.system" not in patch
    assert post(made.stdout.strip()).code == 0
    for body in (github.reviews[pull][0]["body"], github.inline[pull][0]["body"]):
        assert "os.system" not in body and "the losses are equal" not in body
    assert "no run of a script has a verdict on this patch" in github.reviews[pull][0]["body"]


def test_the_claim_itself_is_not_posted(claim, recompute, post, github):
    forge(claim)
    digest = recompute(claim).stdout.strip()

    result = post(digest, claim)

    assert (result.code, github.calls) == (2, [])
    assert "is not the artifact that devfix bot recompute wrote" in result.stderr


def test_nothing_is_posted_without_a_digest(bot, claim, job, github, pull):
    workflow_run(job, github, pull)

    result = bot("post", claim)

    assert (result.code, github.calls) == (2, [])
    assert "--digest is missing" in result.stderr


def test_a_verdict_on_the_same_patch_is_shown_as_a_claim(claim, recompute, post, github, pull):
    edit(claim, evidence=EVIDENCE, not_verified="")

    assert post(recompute(claim).stdout.strip()).code == 0

    body = github.reviews[pull][0]["body"]
    assert body.index("This is a claim, not a proof") < body.index("the losses are equal")


def test_an_edit_that_the_run_did_not_accept_is_left_out(claim, recompute, tmp_path):
    (finding,) = read(claim)["findings"]
    edit(claim, b"", files=[], parts=[], findings=[{**finding, "status": "not-fixed"}], evidence=EVIDENCE)

    assert recompute(claim).code == 0

    (left,) = read(tmp_path / "artifact")["findings"]
    assert (left["status"], left["reason"]) == ("not-fixed", "the run of the script did not accept this edit")
    assert (tmp_path / "artifact" / "devfix.patch").read_bytes() == b""


def test_without_a_run_a_claim_leaves_no_edit_out(claim, recompute, tmp_path):
    edit(claim, b"", files=[], parts=[], findings=[])

    assert recompute(claim).code == 0

    assert FIXED in (tmp_path / "artifact" / "devfix.patch").read_bytes()


@pytest.mark.parametrize(
    ("changes", "run", "words"),
    [
        pytest.param({"repository": "eve/nets"}, {}, "belongs to eve/nets", id="another-repository"),
        pytest.param({"head": "0" * 40}, {}, "the artifact belongs to 000000000000", id="another-commit"),
        pytest.param({"base": "0" * 40}, {}, "is no commit", id="no-such-base"),
        pytest.param({"number": 0}, {}, "belongs to no pull request", id="no-pull-request"),
        pytest.param({}, {"head_sha": "0" * 40}, "but the run to 000000000000", id="another-run"),
    ],
)
def test_a_claim_of_something_else_is_refused(claim, recompute, changes, run, words):
    edit(claim, **changes)

    result = recompute(claim, **run)

    assert (result.code, result.stdout, result.stderr.count("\n")) == (2, "", 1)
    assert words in result.stderr


def test_a_checkout_of_another_commit_is_refused(claim, recompute, repository):
    repository.git("commit", "-q", "--allow-empty", "-m", "more")

    result = recompute(claim)

    assert result.code == 2 and "this checkout is at " in result.stderr


def test_nothing_is_run_although_the_configuration_names_a_script(claim, recompute, repository):
    script = '[tool.devfix.bot.verify]\nscript = "run.py"\n'
    (repository.tree / "pyproject.toml").write_text(CONFIGURATION + script)
    (repository.tree / "run.py").write_text("open('ran', 'w')\n")

    assert recompute(claim).code == 0
    assert not (repository.tree / "ran").exists()


@pytest.mark.parametrize("target", ["/dev/zero", "elsewhere.py"])
def test_what_a_link_leads_to_outside_the_checkout_is_neither_read_nor_told(
    bot, job, github, pull, repository, tmp_path, target
):
    (tmp_path / "elsewhere.py").write_text(BROKEN.replace("model", "secret"))
    (repository.tree / "link.py").symlink_to(tmp_path / target)
    github.pulls[pull]["head"]["sha"] = repository.commit()
    job(pull, token="")

    assert bot("recompute", "--artifact", tmp_path / "artifact").code == 0

    (finding,) = read(tmp_path / "artifact")["findings"]
    assert finding["path"] == "train.py" and "secret" not in json.dumps(read(tmp_path / "artifact"))


# --- commits --------------------------------------------------------------------------------------------------------
NET = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 4)
        self.mask = torch.ones(4)

    def forward(self, x):
        return self.layer(x) * self.mask
"""
TRAIN = """\
import torch
from net import Net

device = "cuda"
model = Net(){move}
loss = model(torch.ones(1, 4{where})).sum()
"""


def test_no_commit_changes_a_file_that_the_pull_request_does_not_change(bot, job, github, repository):
    settings = CONFIGURATION + 'mode = "commit"\n'
    repository.commit(pyproject__toml=settings, net__py=NET, train__py=TRAIN.format(move="", where=""))
    repository.branch("topic")
    repository.commit(train__py=TRAIN.format(move=".to(device)", where=", device=device"))
    number = github.add_pull("topic")
    job(number)

    result = bot("review")

    assert result.code == 0, result.stderr
    assert f"#{number} does not change net.py, which the patch changes: it posts suggestions instead" in result.stderr
    assert repository.there("topic", "net.py") == NET.rstrip()
    assert "register_buffer" in github.reviews[number][0]["body"]
