"""One change for each set of owners: which files are together, and what becomes of them."""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path

import pytest

from devfix.migrate.changes import Change
from devfix.migrate.parts import splitting
from devfix.migrate.parts.records import part_names, patch_of, record_of
from devfix.migrate.record import RepositoryOutcome
from devfix.migrate.task import Publishing, Verification
from devfix.migrate.work import migrate
from devfix.model import (
    AppendCode,
    FileChange,
    Finding,
    Fix,
    Outcome,
    Patch,
    Resolution,
    Severity,
    Span,
    Status,
)

OWNERS = "* @lab/all\n/one/ @ann\n/two/ @bob\n/free/\n"
#: A module that a program in another folder moves to its device; the buffer is missing.
MODEL = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 2)
        self.mask = torch.ones(2)

    def forward(self, x):
        return self.layer(x) * self.mask
"""
PROGRAM = """\
import torch
from one.net import Net

device = torch.device("cuda")
model = Net().to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(4):
    loss = model(torch.randn(8, 4{device})).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.fixture
def task_of(task, make, tmp_path):
    """A task that splits the fixes of a repository with these files."""

    def made(files, kind="branch", dialect=None, split=True, owner_reviews=False):
        source = make(tmp_path / "owned", files)
        publishing = Publishing(kind, dialect=dialect, split=split, owner_reviews=owner_reviews)
        return dataclasses.replace(task, source=str(source), publishing=publishing)

    return made


def summary(record):
    return [(part.owners, part.name, part.files) for part in record.parts]


def changed_files(git, part):
    """The files of the commit of a part."""
    return git("show", "--name-only", "--format=", part.published.commit, cwd=part.published.mirror).split()


def test_each_set_of_owners_gets_a_branch(task_of, broken, git):
    task = task_of(
        {"CODEOWNERS": OWNERS, "one/a.py": broken, "one/b.py": broken, "two/a.py": broken, "free/a.py": broken}
    )

    record = migrate(task)

    assert record.outcome is RepositoryOutcome.FIXED
    assert summary(record) == [
        ((), "unowned", ("free/a.py",)),
        (("@ann",), "ann", ("one/a.py", "one/b.py")),
        (("@bob",), "bob", ("two/a.py",)),
    ]
    assert [part.published.branch for part in record.parts] == [
        "devfix/device-unowned",
        "devfix/device-ann",
        "devfix/device-bob",
    ]
    assert [tuple(changed_files(git, part)) for part in record.parts] == [part.files for part in record.parts]
    message = git("log", "-1", "--format=%B", record.parts[2].published.commit, cwd=record.parts[2].published.mirror)
    assert "- two/a.py:8" in message and "one/a.py" not in message


def test_the_branches_of_all_owners_together_are_the_whole_patch(task_of, broken, git):
    record = migrate(task_of({"CODEOWNERS": OWNERS, "one/a.py": broken, "two/a.py": broken, "free/a.py": broken}))

    parts = "".join(patch_of(record.patch, part.files) for part in record.parts)
    assert sorted(parts.splitlines()) == sorted(record.patch.splitlines())


def test_a_second_run_makes_the_same_commits(task_of, broken):
    task = task_of({"CODEOWNERS": OWNERS, "one/a.py": broken, "two/a.py": broken})

    first, second = migrate(task), migrate(task)

    assert first.parts == second.parts


def test_without_the_key_there_is_one_branch(task_of, broken):
    record = migrate(task_of({"CODEOWNERS": OWNERS, "one/a.py": broken, "two/a.py": broken}, split=False))

    assert record.parts == () and record.published.branch == "devfix/device"


def test_without_owners_in_the_repository_there_is_one_branch_and_a_note(task_of, broken):
    record = migrate(task_of({"one/a.py": broken, "two/a.py": broken}))

    assert record.parts == () and record.published.branch == "devfix/device"
    assert [note["message"] for note in record.notes] == ["there is no such file, so nobody owns the fixes"]


def test_only_owners_of_a_fix_are_named_if_nothing_is_split(task_of, broken, clean):
    record = migrate(
        task_of(
            {"CODEOWNERS": OWNERS, "one/a.py": broken, "two/a.py": clean, "x/a.py": broken},
            split=False,
            owner_reviews=True,
        )
    )

    assert summary(record) == [(("@ann", "@lab/all"), "", ("one/a.py", "x/a.py"))]


def test_owners_of_a_sub_folder_are_those_of_the_repository(task_of, broken):
    task = task_of({"CODEOWNERS": OWNERS, "one/a.py": broken, "two/a.py": broken})

    record = migrate(dataclasses.replace(task, folder="one"))

    assert summary(record) == [(("@ann",), "ann", ("one/a.py",))]


@pytest.mark.parametrize(
    ("dialect", "files", "owners"),
    [
        pytest.param("github", {".github/CODEOWNERS": "* @a", "CODEOWNERS": "* @b"}, "@a", id="github-first"),
        pytest.param("github", {"docs/CODEOWNERS": "* @a", ".gitlab/CODEOWNERS": "* @b"}, "@a", id="github-docs"),
        pytest.param("gitlab", {".gitlab/CODEOWNERS": "[x] @a\none/", ".github/CODEOWNERS": "*"}, "@a", id="gitlab"),
        pytest.param("gitea", {"CODEOWNERS": "one/.* @a", ".github/CODEOWNERS": "* @b"}, "@a", id="gitea"),
        pytest.param(None, {".gitea/CODEOWNERS": "one/.* @a"}, "@a", id="by-folder"),
        pytest.param(None, {".gitlab/CODEOWNERS": "[x] @a\none/"}, "@a", id="by-another-folder"),
    ],
)
def test_the_file_is_found_where_the_forge_looks_for_it(task_of, broken, dialect, files, owners):
    record = migrate(task_of({**files, "one/a.py": broken}, dialect=dialect))

    assert [part.owners for part in record.parts] == [(owners,)]


def test_lines_that_are_wrong_are_notes_of_the_record(task_of, broken):
    record = migrate(task_of({"CODEOWNERS": "* @a\n!x @b\n", "one/a.py": broken}, dialect="github"))

    assert [(note["path"], note["line"]) for note in record.notes] == [("CODEOWNERS", 2)]


def test_a_link_is_no_list_of_owners(task_of, broken, tmp_path, commit):
    task = task_of({"one/a.py": broken, "secret": "* @a"})
    os.symlink("secret", tmp_path / "owned" / "CODEOWNERS")
    commit(tmp_path / "owned", {})

    assert migrate(task).parts == ()


def test_a_branch_with_work_of_others_fails_the_repository_after_the_others_are_pushed(task_of, broken, git, tmp_path):
    task = task_of({"CODEOWNERS": OWNERS, "one/a.py": broken, "two/a.py": broken}, kind="push")
    git("branch", "devfix/device-ann", cwd=tmp_path / "owned")

    record = migrate(task)

    assert (record.outcome, record.stage) == (RepositoryOutcome.FAILED, "publish")
    assert "devfix/device-ann has a commit by" in record.reason
    assert git("branch", "--format=%(refname:short)", cwd=tmp_path / "owned").split() == [
        *("devfix/device-ann", "devfix/device-bob", "main"),
    ]


def test_a_fix_of_the_module_and_one_of_another_program_are_apart(task_of, broken):
    files = {"CODEOWNERS": OWNERS, "one/net.py": MODEL, "one/__init__.py": "", "two/a.py": broken}
    files["train.py"] = PROGRAM.format(device=", device=device")

    assert [(part.owners, part.files) for part in migrate(task_of(files)).parts] == [
        (("@ann",), ("one/net.py",)),
        (("@bob",), ("two/a.py",)),
    ]


def test_fixes_that_the_engine_makes_only_together_are_one_change(task_of):
    """Without the fix of the program, the module gets another edit."""
    program = Path(__file__).parents[2] / "corpus" / "incidents" / "transformerlens_stale_tokens" / "broken"
    files = {path.name: path.read_text("utf-8") for path in program.glob("*.py")}
    files["demo.py"] = files["demo.py"].replace("in (prompts, torch", "in (torch").replace("(3, 9))):", "(3, 9)),):")
    files["demo.py"] += "    model(prompts, return_type='both')\n"

    record = migrate(task_of({**files, "CODEOWNERS": "/bridge.py @ann\n/demo.py @bob\n"}))

    assert summary(record) == [(("@ann", "@bob"), "ann-bob", ("bridge.py", "demo.py"))]


def test_parts_are_proved_together(task_of):
    files = {"CODEOWNERS": OWNERS, "one/net.py": MODEL, "one/__init__.py": "", "train.py": PROGRAM.format(device="")}
    verification = Verification("train.py", device="sim", timeout=60.0)

    record = migrate(dataclasses.replace(task_of(files), verification=verification))

    assert (record.outcome, record.verdict.status) == (RepositoryOutcome.FIXED, "fixed")
    assert [part.files for part in record.parts] == [("one/net.py",), ("train.py",)]


# --- what belongs together ------------------------------------------------------------------------------------------
def finding(name, *paths):
    edits = tuple(AppendCode(path, Span(1, 0, 1, 1), ".to(device)") for path in paths)
    fix = Fix("move it", edits)
    found = Finding("DEV102", name, Severity.ERROR, paths[0], Span(1, 0, 1, 1), name, fixes=(fix,))
    return Resolution(found, Status.FIXED, fix=fix)


def outcome_of(*resolutions):
    files = sorted({path for item in resolutions for path in item.fix.paths})
    changes = tuple(FileChange(path, b"old", b"new") for path in files)
    return Outcome(resolutions, Patch(changes))


def split(owned, *resolutions, needs=()):
    """The groups of files, if a fix has no effect without another one that it needs: pairs of names."""
    everything = outcome_of(*resolutions)
    runs = []

    def rerun(without):
        kept = {item.finding.name for item in resolutions} - {each.name for each in without}
        runs.append(kept)
        effective = {name for name in kept if all(b in kept for a, b in needs if a == name)}
        return outcome_of(*(item for item in resolutions if item.finding.name in effective))

    owners = {path: tuple(f"@{owner}" for owner in names.split()) for path, names in owned.items()}
    return sorted(map(sorted, splitting.split(everything, owners, rerun))), len(runs)


ABC = {"a": "ann", "b": "bob", "c": "carl"}


def test_files_of_one_fix_stay_together():
    groups, _ = split(ABC, finding("x", "a", "b"), finding("y", "c"))

    assert groups == [["a", "b"], ["c"]]


def test_files_that_fixes_connect_stay_together():
    groups, _ = split(ABC | {"d": "ann"}, finding("x", "a", "b"), finding("y", "b", "c"), finding("z", "d"))

    assert groups == [["a", "b", "c"], ["d"]]


def test_a_fix_that_needs_another_one_stays_with_it():
    groups, _ = split(ABC, finding("x", "a"), finding("y", "b"), finding("z", "c"), needs=[("x", "y")])

    assert groups == [["a", "b"], ["c"]]


def test_fixes_that_need_each_other_in_a_circle_are_one_change():
    needs = [("x", "y"), ("y", "z"), ("z", "x")]

    groups, _ = split(ABC, finding("x", "a"), finding("y", "b"), finding("z", "c"), needs=needs)

    assert groups == [["a", "b", "c"]]


def test_groups_of_one_owner_after_joining_are_one_change():
    owned = ABC | {"d": "ann bob"}

    groups, _ = split(
        owned, finding("x", "a"), finding("y", "b"), finding("z", "c"), finding("w", "d"), needs=[("x", "y")]
    )

    assert groups == [["a", "b", "d"], ["c"]]


def test_one_owner_costs_no_second_analysis():
    assert split({"a": "ann", "b": "ann"}, finding("x", "a"), finding("y", "b")) == ([["a", "b"]], 0)


# --- names ----------------------------------------------------------------------------------------------------------
def test_branches_are_named_by_owners():
    owners = [(), ("@ann",), ("@ann", "@lab/core"), ("a.b@lab.org",), ("@@maintainer",)]

    assert part_names(owners) == ["unowned", "ann", "ann-lab-core", "a-b-lab-org", "maintainer"]


def test_equal_and_long_names_get_a_digest():
    names = part_names([("@lab/core",), ("@lab-core",), tuple(f"@person{number}" for number in range(40))])

    assert len(set(names)) == 3 and all(name.startswith("lab-core-") for name in names[:2])
    assert max(map(len, names)) < 80


def test_the_record_of_a_part_has_its_findings_only(task_of, broken):
    task = task_of({"CODEOWNERS": OWNERS, "one/a.py": broken, "two/a.py": broken}, kind="pull-request")
    record = migrate(task)
    change = Change.of(task, record.parts[0])

    part = record_of(record, change)

    assert (change.branch, change.owners) == ("devfix/device-ann", ("@ann",))
    assert {item["path"] for item in part.findings} == {"one/a.py"} and "two/a.py" not in part.patch
    assert record_of(record, dataclasses.replace(change, owners=("@gone",))) is None
