"""One repository from its mirror to its record."""

import json
import os
import subprocess
import time
from dataclasses import replace
from pathlib import Path

import pytest

from devfix.engine import parallel_scan
from devfix.migrate.engines.local import LocalEngine
from devfix.migrate.mirrors import Mirror
from devfix.migrate.record import RepositoryOutcome
from devfix.migrate.task import Publishing, Verification
from devfix.migrate.work import migrate

pytestmark = pytest.mark.sample(32)  # many take a second

SECRET = "hunter2hunter2hunter2"


def everything(folder):
    return {
        path.relative_to(folder): (path.lstat().st_mode, path.lstat().st_mtime_ns, path.is_file() and path.read_bytes())
        for path in Path(folder).rglob("*")
    }


def test_a_repaired_repository(task, repository, git):
    before = everything(repository)

    record = migrate(task)

    assert (record.outcome, record.stage, record.reason) == (RepositoryOutcome.FIXED, "done", "")
    assert record.commit == git("rev-parse", "HEAD", cwd=repository)
    assert [finding["path"] for finding in record.findings] == ["train.py"]
    assert set(record.timings) == {"fetch", "checkout", "scan", "publish"}
    assert 0 < record.cpu_s < 60
    assert 20 < record.memory_mb < 2000
    assert everything(repository) == before, "the user's own checkout is only read"
    check = ["git", "apply", "--check", "-"]
    assert subprocess.run(check, cwd=repository, input=record.patch.encode(), check=False).returncode == 0


def test_nothing_is_left_behind(task, tmp_path):
    migrate(task)

    assert [path for path in (tmp_path / "scratch").rglob("*") if path.is_file()] == []
    assert list((tmp_path / "mirrors").glob("*/worktrees/*")) == []


def test_no_path_of_the_worktree_is_told(task, tmp_path):
    line = migrate(task).line()

    assert str(tmp_path / "scratch") not in line


def test_uncommitted_work_is_not_seen(task, repository, clean):
    (repository / "train.py").write_text(clean)

    assert migrate(task).outcome is RepositoryOutcome.FIXED


def test_a_clean_repository(task, repository, commit, clean):
    commit(repository, {"train.py": clean})

    record = migrate(task)

    assert (record.outcome, record.findings, record.patch) == (RepositoryOutcome.CLEAN, (), "")


def test_only_what_reading_needs_is_checked_out(task, repository, commit, monkeypatch):
    commit(repository, {"data/large.bin": b"\0" * 1000, "pkg/model.py": "x = 1\n", "pyproject.toml": "[project]\n"})
    seen = []
    from devfix.migrate import work

    read = work._read
    monkeypatch.setattr(
        work,
        "_read",
        lambda task, tree, folder: seen.extend(path.name for path in tree.rglob("*")) or read(task, tree, folder),
    )

    migrate(task)

    assert {"train.py", "model.py", "pyproject.toml"} <= set(seen)
    assert not {"README", "large.bin"} & set(seen)


BLEND = """\
import acme
import torch

device = torch.device("cuda")
x = torch.ones(3, device=device)
y = torch.ones(3)
print(acme.blend(x, y))
"""
RECIPE = """\
import sys
import speechbrain as sb
from hyperpyyaml import load_hyperpyyaml

class Distiller(sb.Brain):
    def compute_forward(self, batch, stage):
        x, _ = batch.to(self.device).sig
        return self.modules.student(x) - self.hparams.teacher(x)

if __name__ == "__main__":
    hparams_file, run_opts, overrides = sb.parse_arguments(sys.argv[1:])
    with open(hparams_file) as stream:
        hparams = load_hyperpyyaml(stream, overrides)
    brain = Distiller(modules=hparams["modules"], hparams=hparams, run_opts=run_opts)
    brain.fit(range(3), hparams["data"])
"""
PARTS = """\
student: &net !new:torch.nn.Linear
  in_features: 3
  out_features: 3
teacher: !new:torch.nn.Linear
  in_features: 3
  out_features: 3
modules:
  student: !ref <student>
"""
RESUMED = """\
import torch

device = torch.device("cuda")
model = torch.nn.Linear(3, 1).to(device)
optimizer = torch.optim.AdamW(model.parameters(), fused=True)
checkpoint = torch.load("last.pt", map_location="cpu")
model.load_state_dict(checkpoint["model"])
optimizer.load_state_dict(checkpoint["optimizer"])
model(torch.randn(2, 3, device=device)).sum().backward()
optimizer.step()
"""


@pytest.mark.parametrize(
    ("files", "code"),
    [
        pytest.param(
            {
                "pyproject.toml": '[tool.devfix]\nmodels = ["stubs"]\n',
                "stubs/acme.pyi": "# https://acme.example/blend\ndef blend(first: On, second: On) -> On: ...\n",
                "train.py": BLEND,
            },
            "DEV102",
            id="stubs",
        ),
        pytest.param({"train.py": RECIPE, "hparams/train.yaml": PARTS}, "DEV204", id="configuration-files"),
        pytest.param({"train.py": RESUMED, "requirements.txt": "torch~=2.1.0\n"}, "DEV401", id="declared-release"),
    ],
)
def test_files_that_the_analysis_reads_are_checked_out(task, repository, commit, files, code):
    commit(repository, files)

    record = migrate(task)

    assert [finding["code"] for finding in record.findings] == [code]


def test_a_commit_that_was_done_is_not_done_again(task, repository, commit):
    first = migrate(task)

    assert migrate(replace(task, done_commits=(first.commit,))).unchanged
    commit(repository, {"more.py": "x = 1\n"})
    assert not migrate(replace(task, done_commits=(first.commit,))).unchanged


def test_the_configuration_of_the_repository_holds(task, repository, commit):
    commit(repository, {"pyproject.toml": '[tool.devfix]\nexclude = ["train.py"]\n'})

    assert migrate(task).outcome is RepositoryOutcome.CLEAN


def test_a_wrong_configuration_is_told(task, repository, commit):
    commit(repository, {"pyproject.toml": "[tool.devfix]\nselekt = []\n"})

    record = migrate(task)

    assert (record.outcome, record.stage) == (RepositoryOutcome.FAILED, "scan")
    assert record.reason.startswith("pyproject.toml: unknown key tool.devfix.selekt")


def test_a_configuration_that_is_nested_too_deeply_is_told(task, repository, commit):
    commit(repository, {"pyproject.toml": f"[tool.devfix]\nselect = {'[' * 5000}\n"})

    record = migrate(task)

    assert (record.stage, record.reason) == ("scan", "pyproject.toml: too deeply nested")


def test_a_damaged_repository_is_told_in_words_of_git(task, repository, git):
    blob = git("rev-parse", "HEAD:train.py", cwd=repository)
    damaged = repository / ".git" / "objects" / blob[:2] / blob[2:]
    damaged.chmod(0o600)
    damaged.write_bytes(b"damaged")

    record = migrate(task)

    assert record.outcome is RepositoryOutcome.FAILED
    assert blob in record.reason and "died" not in record.reason, record.log
    assert "clone it completely" in record.reason


def test_a_repository_without_commits_and_one_whose_head_is_on_no_branch(task, repository, git, tmp_path):
    git("init", "-q", "-b", "main", str(tmp_path / "empty"), cwd=tmp_path)
    git("symbolic-ref", "HEAD", "refs/heads/gone", cwd=repository)

    empty, headless = (migrate(replace(task, source=str(source))) for source in (tmp_path / "empty", repository))

    assert (empty.stage, headless.stage) == ("fetch", "fetch")
    assert empty.reason == "the repository has no commit: leave it out of the plan until it has one"
    assert headless.reason == 'its HEAD points to no branch: name one in the plan, such as ref = "main"'


def test_a_local_repository_may_lack_contents_that_nobody_reads(task, repository, commit, git):
    commit(repository, {"data.bin": os.urandom(2000)})
    blob = git("rev-parse", "HEAD:data.bin", cwd=repository)
    (repository / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    before = everything(repository)

    for _ in range(2):
        assert migrate(task).outcome is RepositoryOutcome.FIXED
    assert everything(repository) == before


def test_what_reads_no_changed_file_is_scanned_once(task, repository, commit, clean, monkeypatch):
    commit(repository, {f"other{number}.py": f"{clean}# {number}\n" for number in range(3)})
    scanned = []
    scan_program = parallel_scan.scan_program
    monkeypatch.setattr(
        parallel_scan, "scan_program", lambda space, path: scanned.append(Path(path).name) or scan_program(space, path)
    )

    assert migrate(task).outcome is RepositoryOutcome.FIXED

    assert scanned.count("train.py") == 2  # as it is and with the fix; the latter is not repeated for the commit
    assert sorted({*scanned}) == ["other0.py", "other1.py", "other2.py", "train.py"] and len(scanned) == 5


def test_a_sub_folder(task, repository, commit, broken):
    commit(repository, {"lab/train.py": broken})

    record = migrate(replace(task, folder="lab"))

    assert [finding["path"] for finding in record.findings] == ["lab/train.py"]
    assert "a/lab/train.py" in record.patch


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"ref": "develop"}, "plan.toml:4: there is no branch, tag or commit 'develop'"),
        ({"folder": "nowhere"}, "plan.toml:4: the repository has no folder 'nowhere'"),
        ({"source": "file:///nowhere/at/all"}, "plan.toml:4: no such folder: /nowhere/at/all"),
        ({"source": "/nowhere"}, "plan.toml:4: no such folder: /nowhere"),
        ({"source": os.path.dirname(__file__)}, "is not a git repository"),
        ({"source": f"https://me:{SECRET}@127.0.0.1:1/a.git"}, "no connection"),
    ],
    ids=["ref", "folder", "file", "path", "no repository", "url"],
)
def test_what_the_plan_got_wrong(task, change, reason):
    record = migrate(replace(task, plan_location="plan.toml:4", **change))

    assert record.outcome is RepositoryOutcome.FAILED
    assert reason in record.reason
    assert SECRET not in record.line()


def test_a_folder_that_may_not_be_read(task, repository, monkeypatch):
    """Root, who often runs tests, may read everything: the system is asked in one place."""
    monkeypatch.setattr(os, "access", lambda path, mode: path != str(repository))

    assert "no permission to read" in migrate(task).reason


def test_a_token_is_written_nowhere(task, tmp_path, repository):
    migrate(replace(task, source=f"file://me:{SECRET}@{repository}"))
    migrate(replace(task, source=f"https://me:{SECRET}@127.0.0.1:1/a.git"))

    for path in tmp_path.rglob("*"):
        assert SECRET not in path.name
        if path.is_file():
            assert SECRET.encode() not in path.read_bytes()


def test_a_tag_and_a_commit(task, repository, commit, git, clean):
    git("tag", "-a", "v1", "-m", "one", cwd=repository)
    old = git("rev-parse", "HEAD", cwd=repository)
    commit(repository, {"train.py": clean})

    for ref in ("v1", old):
        record = migrate(replace(task, ref=ref))
        assert (record.commit, record.outcome) == (old, RepositoryOutcome.FIXED)
        assert migrate(replace(task, ref=ref, done_commits=(old,))).unchanged


def test_a_branch_is_committed_and_stays_the_same(task, repository, git):
    wanted = Publishing("branch", "fix/device", "A Bot <bot@example.org>", "Repair")

    first, second = (migrate(replace(task, publishing=wanted)) for _ in range(2))

    published = first.published
    assert published == second.published
    show = git("show", "--format=%an %ae %cn %s", "--name-only", "fix/device", cwd=published.mirror).splitlines()
    assert (show[0], show[-1]) == ("A Bot bot@example.org A Bot Repair", "train.py")
    assert git("rev-parse", "fix/device^", cwd=published.mirror) == first.commit
    assert "fix/device" not in git("branch", "-a", cwd=repository)


@pytest.fixture
def remote(tmp_path, repository, git):
    git("clone", "-q", "--bare", str(repository), str(tmp_path / "remote.git"), cwd=tmp_path)
    return tmp_path / "remote.git"


def test_a_branch_is_pushed(task, remote, git):
    task = replace(task, source=f"file://{remote}", publishing=Publishing("push"))

    first, second = migrate(task), migrate(task)

    assert git("rev-parse", "devfix/device", cwd=remote) == first.published.commit == second.published.commit
    assert git("diff", "--stat", "main", "devfix/device", cwd=remote).count("train.py") == 1


def test_a_branch_of_ours_follows_the_source(task, remote, git, repository, commit):
    task = replace(task, source=f"file://{remote}", publishing=Publishing("push"))
    migrate(task)
    commit(repository, {"other.py": "x = 1\n"})
    git("push", "-q", str(remote), "main", cwd=repository)

    record = migrate(task)

    assert git("rev-parse", "devfix/device^", cwd=remote) == record.commit == git("rev-parse", "main", cwd=remote)


def test_a_branch_that_somebody_worked_on_is_left_alone(task, remote, git, repository, commit, tmp_path):
    git("checkout", "-q", "-b", "devfix/device", cwd=repository)
    commit(repository, {"other.py": "x = 1\n"})
    git("push", "-q", str(remote), "devfix/device", cwd=repository)
    before = git("rev-parse", "devfix/device", cwd=remote)

    record = migrate(replace(task, source=f"file://{remote}", publishing=Publishing("push")))

    assert (record.outcome, record.stage) == (RepositoryOutcome.FAILED, "publish")
    assert "person@example.org" in record.reason
    assert git("rev-parse", "devfix/device", cwd=remote) == before


def test_what_another_entry_pushed_is_not_overwritten(task, remote, git):
    """Also with one name for both branches, and one author: a plan of a colleague, or the same URL in another form."""
    git("branch", "next", "main", cwd=remote)
    first, second = (
        replace(task, source=f"file://{remote}", ref=ref, publishing=Publishing("push", "fix"))
        for ref in ("main", "next")
    )
    pushed = migrate(first).published.commit

    record = migrate(second)

    assert (record.outcome, record.stage) == (RepositoryOutcome.FAILED, "publish")
    assert "the branch fix has a commit by another entry or command of devfix" in record.reason
    assert git("rev-parse", "fix", cwd=remote) == pushed == migrate(first).published.commit


def test_a_change_in_the_name_of_devfix_is_not_overwritten(task, remote, git, tmp_path):
    """A person amends the commit and keeps its message and author."""
    task = replace(task, source=f"file://{remote}", publishing=Publishing("push", author="A <person@example.org>"))
    migrate(task)
    git("clone", "-q", "-b", "devfix/device", str(remote), str(tmp_path / "theirs"), cwd=tmp_path)
    (tmp_path / "theirs" / "train.py").write_text("# mine\n")
    git("commit", "-q", "-a", "--amend", "--no-edit", cwd=tmp_path / "theirs")
    git("push", "-q", "-f", "origin", "devfix/device", cwd=tmp_path / "theirs")
    theirs = git("rev-parse", "devfix/device", cwd=remote)

    record = migrate(task)

    assert (record.outcome, record.stage) == (RepositoryOutcome.FAILED, "publish")
    assert git("rev-parse", "devfix/device", cwd=remote) == theirs


def test_the_default_branch_is_not_a_place_for_patches(task, remote, git):
    before = git("rev-parse", "main", cwd=remote)

    record = migrate(replace(task, source=f"file://{remote}", publishing=Publishing("push", "main")))

    assert "main is the default branch of the remote" in record.reason
    assert git("rev-parse", "main", cwd=remote) == before


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    "attributes",
    ["*.py eol=crlf", "*.py ident", "*.py text eol=crlf ident", "*.py text=auto", "*.py working-tree-encoding=UTF-16"],
)
def test_attributes_convert_nothing(task, tmp_path, make, git, broken, attributes):
    """The patch fits a fresh clone, in which git converts the files as the attributes say."""
    script = broken.replace("    batch = torch", "    # $Id$\n    batch = torch")
    repository = make(tmp_path / "source", {".gitattributes": f"{attributes}\n", "notes.txt": "x\n"})
    (repository / "train.py").write_text(script)
    blob = git("hash-object", "-w", "--no-filters", "train.py", cwd=repository)
    git("update-index", "--add", "--cacheinfo", f"100644,{blob},train.py", cwd=repository)
    git("commit", "-q", "-m", "script", cwd=repository)

    record = migrate(replace(task, source=str(repository), publishing=Publishing("branch")))

    assert (record.outcome, record.reason) == (RepositoryOutcome.FIXED, "")
    published = git("show", "devfix/device:train.py", cwd=record.published.mirror)
    assert published.count("\r") == 0 and "$Id$" in published
    if "encoding" not in attributes:
        git("clone", "-q", f"file://{repository}", str(tmp_path / "clone"), cwd=tmp_path)
        (tmp_path / "patch").write_bytes(record.patch.encode())
        git("apply", "--check", "--index", str(tmp_path / "patch"), cwd=tmp_path / "clone")


@pytest.mark.parametrize("verified", [False, True], ids=["scanned", "verified"])
def test_filters_of_the_user_do_not_run(task, repository, commit, tmp_path, monkeypatch, verified):
    """As git-lfs configures one: the repository chooses the files."""
    configuration = tmp_path / "gitconfig"
    run = f"sh -c 'touch {tmp_path}/ran; cat'"
    configuration.write_text(
        f'[filter "lfs"]\n\tsmudge = "{run}"\n\tclean = "{run}"\n\trequired = true\n'
        f"[core]\n\tattributesFile = {tmp_path}/attributes\n"
    )
    (tmp_path / "attributes").write_text("*.py filter=lfs\n")
    commit(repository, {".gitattributes": "*.py filter=lfs\n"})
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(configuration))
    verification = Verification("train.py", device="sim", timeout=60.0) if verified else None

    record = migrate(replace(task, publishing=Publishing("branch"), verification=verification))

    assert record.outcome is RepositoryOutcome.FIXED
    assert not (tmp_path / "ran").exists()


def test_a_link_that_leads_out_is_left_alone(task, repository, commit, broken, tmp_path):
    (tmp_path / "mine.py").write_text(broken)
    (repository / "theirs.py").symlink_to(tmp_path / "mine.py")
    commit(repository, {})

    record = migrate(task)

    assert (tmp_path / "mine.py").read_text() == broken
    assert [problem["path"] for problem in record.problems] == ["theirs.py"]
    assert "mine.py" not in record.patch


@pytest.mark.parametrize("also", [{}, {"train.py": "import torch\n"}], ids=["alone", "beside others"])
def test_a_file_that_cannot_be_parsed_is_told_though_it_never_names_torch(task, repository, commit, also):
    (repository / "train.py").unlink()
    commit(repository, {"old.py": "x = 1\nprint 'Python 2'\n", **also})

    record = migrate(task)

    assert (record.outcome, record.patch) == (RepositoryOutcome.NOT_FIXED, "")
    assert record.reason.startswith("a file could not be processed: old.py:2: cannot be parsed")
    assert [(problem["path"], problem["line"]) for problem in record.problems] == [("old.py", 2)]


def test_it_is_told_beside_a_proof_too(task, repository, commit):
    commit(repository, {"old.py": "x = 1\nprint 'Python 2'\n"})

    record = migrate(replace(task, verification=Verification("train.py", device="sim", timeout=60.0)))

    assert record.verdict.good and "to(device)" in record.patch
    assert record.reason.startswith("a file could not be processed: old.py:2")


def test_a_notebook_is_repaired(task, repository, commit, broken):
    cell = {"cell_type": "code", "execution_count": None, "id": "a", "metadata": {}, "outputs": []}
    notebook = {"cells": [{**cell, "source": broken.splitlines(keepends=True)}], "metadata": {}}
    (repository / "train.py").unlink()
    commit(repository, {"train.ipynb": json.dumps({**notebook, "nbformat": 4, "nbformat_minor": 5}, indent=1) + "\n"})

    record = migrate(task)

    assert (record.outcome, record.reason) == (RepositoryOutcome.FIXED, "")
    assert "b/train.ipynb" in record.patch and "to(device)" in record.patch


@pytest.mark.parametrize(
    ("files", "stage"),
    [
        pytest.param({"train.py": "x = 1\n"}, "fetch", id="history"),
        pytest.param({"large.py": os.urandom(3 << 20).hex()}, "checkout", id="files"),
    ],
)
def test_a_repository_larger_than_the_limit_is_not_fetched(task, repository, commit, git, files, stage):
    if stage == "fetch":  # contents are fetched at the checkout; the text of a commit is not content
        (repository.parent / "message").write_bytes(os.urandom(2 << 20).hex().encode())
        git("commit", "-q", "--allow-empty", "-F", str(repository.parent / "message"), cwd=repository)
    else:
        commit(repository, files)
    git("config", "uploadpack.allowFilter", "true", cwd=repository)
    git("config", "uploadpack.allowAnySHA1InWant", "true", cwd=repository)
    task = replace(task, source=f"file://{repository}", plan_location="plan.toml:12")

    record = migrate(replace(task, max_fetch_mb=1))

    assert (record.outcome, record.stage) == (RepositoryOutcome.FAILED, stage)
    told = "more than max-fetch = 1 MB: raise it in the plan, or leave the repository out"
    assert record.reason == f"plan.toml:12: {told}"
    assert not Mirror(task).folder.exists(), "what was fetched is deleted"
    assert migrate(replace(task, max_fetch_mb=10)).outcome is not RepositoryOutcome.FAILED


def test_a_fetch_without_an_end_is_stopped(task, repository, git, tmp_path, monkeypatch):
    packs = tmp_path / "mirrors"
    script = tmp_path / "bin" / "git"
    script.parent.mkdir()
    real = subprocess.run(["which", "git"], capture_output=True, text=True, check=True).stdout.strip()
    endless = f'd=$(find {packs} -type d -name objects); head -c 2000000 /dev/zero > "$d/tmp_pack"; sleep 60'
    script.write_text(f'#!/bin/sh\ncase "$1" in fetch) {endless};; *) exec {real} "$@";; esac\n')
    script.chmod(0o755)
    monkeypatch.setattr("devfix.vcs.git._command", lambda: str(script))
    started = time.monotonic()

    record = migrate(replace(task, max_fetch_mb=1))

    assert "more than max-fetch = 1 MB" in record.reason
    assert time.monotonic() - started < 50


def test_killed_git_commands_leave_locks_that_go(task, tmp_path):
    migrate(task)
    (mirror,) = (tmp_path / "mirrors").glob("*.git")
    (mirror / "shallow.lock").touch()
    (mirror / "refs" / "devfix" / "x.lock").touch()

    assert migrate(task).outcome is RepositoryOutcome.FIXED


def test_a_broken_mirror_is_made_anew(task, tmp_path):
    migrate(task)
    (mirror,) = (tmp_path / "mirrors").glob("*.git")
    for path in (mirror / "objects").rglob("*"):
        if path.is_file():
            os.chmod(path, 0o600)
            path.write_bytes(b"")

    assert migrate(task).outcome is RepositoryOutcome.FIXED


def test_a_mirror_that_is_not_to_be_kept_goes_with_its_lock(task, tmp_path):
    record = migrate(replace(task, keep_mirror=False))

    assert record.outcome is RepositoryOutcome.FIXED
    assert list((tmp_path / "mirrors").iterdir()) == []
    assert migrate(replace(task, keep_mirror=False)).outcome is RepositoryOutcome.FIXED


def test_a_mirror_that_is_in_use_stays(task, tmp_path):
    mirror = Mirror(task)
    with mirror.checkout(mirror.fetch(), all_files=True) as checkout:
        migrate(replace(task, keep_mirror=False))

        assert (checkout.folder / "train.py").exists() and mirror.folder.exists()
        checkout.git("status")
    migrate(replace(task, keep_mirror=False))
    assert not mirror.folder.exists()


def test_several_may_delete_the_same_mirror(task, repository, commit, broken, tmp_path):
    commit(repository, {f"part{number}/train.py": broken for number in range(12)})
    tasks = [replace(task, number=n, name=f"t{n}", folder=f"part{n}", keep_mirror=False) for n in range(12)]

    records = list(LocalEngine().run(tasks, migrate, 4))

    assert [record.outcome.value for record in records] == ["fixed"] * 12, [record.reason for record in records]
    assert list((tmp_path / "mirrors").glob("*.git")) == []


def test_a_mirror_that_another_task_deletes_before_the_checkout_is_fetched_again(task):
    mirror = Mirror(task)
    commit = mirror.fetch()
    mirror.delete()

    with mirror.checkout(commit, all_files=False) as checkout:
        assert (checkout.folder / "train.py").is_file()


def test_a_patch_is_proved(task, broken):
    record = migrate(replace(task, verification=Verification("train.py", device="sim", timeout=60.0)))

    assert (record.outcome, record.verdict.status, record.verdict.good) == (RepositoryOutcome.FIXED, "fixed", True)
    assert record.verdict.runs["original/device"].ok is False
    patched, right = (record.verdict.runs[name].losses for name in ("patched/device", record.verdict.reference))
    assert patched == right and len(patched) == 4


@pytest.mark.parametrize("folder", ["", "part"], ids=["whole", "sub-folder"])
def test_another_script_may_run_first(task, repository, commit, broken, folder):
    reads = broken.replace("torch.randn(8, 4)", "torch.load('rows.pt')")
    makes = "import sys, torch\ntorch.save(torch.ones(int(sys.argv[1]), 4), 'rows.pt')\n"
    (repository / "train.py").unlink()
    commit(repository, {f"{folder}/train.py".lstrip("/"): reads, f"{folder}/make_rows.py".lstrip("/"): makes})
    verification = Verification("train.py", device="sim", timeout=60.0, setup="make_rows.py 8")

    record = migrate(replace(task, folder=folder, verification=verification))

    assert (record.outcome, record.verdict and record.verdict.status) == (RepositoryOutcome.FIXED, "fixed"), (
        record.reason
    )
    assert record.verdict.runs["patched/device"].steps == 4


def test_what_is_not_proved_is_not_kept(task, repository, commit, broken):
    commit(repository, {"train.py": broken.replace("range(4)", "range(1)")})

    record = migrate(replace(task, verification=Verification("train.py", device="sim", timeout=60.0)))

    assert (record.outcome, record.patch) == (RepositoryOutcome.NOT_FIXED, "")
    assert record.reason.startswith("the verdict is inconclusive")


def test_a_script_that_is_not_there_is_told(task):
    record = migrate(replace(task, verification=Verification("nowhere.py")))

    assert (record.outcome, record.stage) == (RepositoryOutcome.FAILED, "verify")
    assert "nowhere.py: no such file or folder" in record.reason


@pytest.mark.thorough
def test_what_needs_too_much_memory_costs_itself(task, repository, commit):
    lines = "".join(f"TABLE.append([first_{n}, 0.25, 0.5])\n" for n in range(60_000))
    commit(repository, {"table.py": f"import torch\nTABLE = []\n{lines}"})

    (record,) = LocalEngine().run([replace(task, memory_mb=384)], migrate, 1)

    assert record.outcome is RepositoryOutcome.NOT_FIXED
    assert [(problem["path"], problem["message"]) for problem in record.problems] == [
        ("table.py", "cannot be parsed: too deeply nested, or too large for the available memory")
    ]
    assert [finding["status"] for finding in record.findings] == ["fixed"]


def test_a_proxy_that_refuses_is_told(task, monkeypatch):
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:1")

    assert "proxy" in migrate(replace(task, source="https://example.org/a.git")).reason


def test_contents_are_fetched_only_where_they_are_needed(task, repository, commit, git, tmp_path):
    """A server that can leave contents out: of the large file that nobody reads, nothing arrives."""
    commit(repository, {"data.bin": os.urandom(200_000)})
    git("config", "uploadpack.allowFilter", "true", cwd=repository)
    git("config", "uploadpack.allowAnySHA1InWant", "true", cwd=repository)
    task = replace(task, source=f"file://{repository}", publishing=Publishing("branch"))

    record = migrate(task)

    assert record.outcome is RepositoryOutcome.FIXED
    mirror = record.published.mirror
    assert sum(path.stat().st_size for path in Path(mirror).rglob("*.pack")) < 50_000
    assert git("diff", "--name-only", f"{record.commit}..devfix/device", cwd=mirror) == "train.py"

    whole = migrate(replace(task, verification=Verification("nowhere.py")))
    assert "nowhere.py: no such file or folder" in whole.reason
    assert sum(path.stat().st_size for path in Path(mirror).rglob("*.pack")) > 200_000


def test_a_shallow_clone_is_a_repository_too(task, repository, commit, git, tmp_path):
    commit(repository, {"more.py": "x = 1\n"})
    git("clone", "-q", "--depth=1", f"file://{repository}", str(tmp_path / "shallow"), cwd=tmp_path)

    for _ in range(2):
        assert migrate(replace(task, source=str(tmp_path / "shallow"))).outcome is RepositoryOutcome.FIXED
