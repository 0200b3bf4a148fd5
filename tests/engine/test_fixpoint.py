"""The loop around the rules: what is repaired, what is left and why, and that nothing is done twice."""

from __future__ import annotations

import pytest
from engine_programs import (
    ADVICE,
    BATCH,
    CLEAN,
    DEVICE,
    HEAD,
    HEAD_FIXED,
    IMPORTS,
    LATENT,
    LOAD,
    OPTIMIZER,
    only_unsafe,
    settings,
    texts,
    told,
)

from devfix import sources
from devfix.config import Settings
from devfix.engine import fixpoint
from devfix.engine.fixpoint import apply, check, fix_text
from devfix.engine.scan import identity, scan_library
from devfix.engine.workspace import Workspace
from devfix.model import Applicability, Severity, Status


# --- the two verbs --------------------------------------------------------------------------------------------------
def test_check_finds_and_changes_nothing(write):
    outcome = check(write(train=HEAD), settings())

    assert told(outcome) == [("DEV201", "train.py", Status.FIXABLE)]
    assert outcome.resolutions[0].fix is not None
    assert outcome.patch.files == ()
    assert outcome.checked == 1


def test_apply_repairs_and_writes_nothing_itself(write, tmp_path):
    outcome = apply(write(train=HEAD), settings())

    assert told(outcome) == [("DEV201", "train.py", Status.FIXED)]
    assert texts(outcome) == {"train.py": HEAD_FIXED}
    assert (tmp_path / "train.py").read_text() == HEAD


def test_a_finding_tells_its_path_and_ends_with_the_line_that_fails(write):
    (resolution,) = check(write(train=HEAD), settings()).resolutions
    events = resolution.finding.events

    assert [event.kind for event in events] == ["moved", "replaced", "used"]
    assert [event.source for event in events] == [
        "model.to(device)",
        "model[1] = nn.Linear(8, 3)",
        "model(torch.randn(2, 4, device=device)).sum().backward()",
    ]
    assert [event.line for event in events] == [7, 8, 9]


def test_a_second_run_changes_nothing(write):
    first = apply(write(train=HEAD), settings())
    second = apply(write(train=texts(first)["train.py"]), settings())

    assert second.resolutions == ()
    assert second.patch.files == ()


def test_several_findings_of_several_rules_in_one_file_are_repaired_in_one_run(write):
    text = (
        IMPORTS + DEVICE + "model = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 2))\n"
        'model.load_state_dict(torch.load("model.pt"))\n'
        "optimizer = torch.optim.Adagrad(model.parameters())\n"
        "model.to(device)\n"
        "model[1] = nn.Linear(8, 2)\n"
        "loader = DataLoader(TensorDataset(torch.randn(8, 4), torch.randn(8, 2)), batch_size=4)\n"
        "for x, y in loader:\n"
        "    x = x.to(device)\n"
        "    nn.functional.mse_loss(model(x), y).backward()\n"
        "    optimizer.step()\n"
    )
    outcome = apply(write(train=text), settings())

    assert sorted(told(outcome)) == [
        (code, "train.py", Status.FIXED) for code in ("DEV101", "DEV201", "DEV301", "DEV401")
    ]
    assert texts(outcome)["train.py"] == (
        IMPORTS + DEVICE + "model = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 2))\n"
        'model.load_state_dict(torch.load("model.pt", map_location="cpu"))\n'
        "model.to(device)\n"
        "model[1] = nn.Linear(8, 2)\n"
        "model.to(device)\n"
        "optimizer = torch.optim.Adagrad(model.parameters())\n"
        "loader = DataLoader(TensorDataset(torch.randn(8, 4), torch.randn(8, 2)), batch_size=4)\n"
        "for x, y in loader:\n"
        "    x = x.to(device)\n"
        "    y = y.to(device)\n"
        "    nn.functional.mse_loss(model(x), y).backward()\n"
        "    optimizer.step()\n"
    )


def test_findings_keep_the_lines_of_the_text_as_it_was_given(write):
    text = HEAD + "head = nn.Linear(8, 5)\nmodel[1] = head\nmodel(torch.randn(2, 4, device=device))\n"
    outcome = apply(write(train=text), settings())

    assert {item.status for item in outcome.resolutions} == {Status.FIXED}
    assert all(text.splitlines()[item.finding.span.line - 1].startswith("model[1] =") for item in outcome.resolutions)


def test_so_do_the_lines_of_a_story_that_is_told_again_after_an_edit(write):
    """An edit above a finding that is left: its story leads through the file as it lies there."""
    files = write(a=HEAD + BATCH)
    _, second = check(files, settings()).resolutions

    left = [item for item in apply(files, settings(), without=[second.finding]).resolutions if item.status != "fixed"]

    assert [(item.finding.span, item.finding.events) for item in left] == [(second.finding.span, second.finding.events)]


def test_bytes_outside_the_edit_stay(write, tmp_path):
    raw = b"\xef\xbb\xbf" + HEAD.replace("\n", "\r\n").rstrip().encode()
    (tmp_path / "train.py").write_bytes(raw)
    outcome = apply([sources.read(str(tmp_path / "train.py"))], settings())

    assert outcome.patch.files[0].old == raw
    assert outcome.patch.files[0].new == b"\xef\xbb\xbf" + HEAD_FIXED.replace("\n", "\r\n").rstrip().encode()


def test_a_clean_file_is_counted_and_nothing_is_said(write):
    outcome = apply(write(train=CLEAN, other="x = 1\n"), settings())

    assert outcome.resolutions == outcome.problems == outcome.notes == outcome.patch.files == ()
    assert outcome.checked == 2


def test_no_files_are_no_work():
    assert apply([], settings()).checked == 0


# --- what is asked for ----------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("given", "codes"),
    [
        pytest.param({}, ["DEV201", "DEV301"], id="all"),
        pytest.param({"select": ("DEV201",)}, ["DEV201"], id="selected"),
        pytest.param({"select": ("DEV3",)}, ["DEV301"], id="selected-group"),
        pytest.param({"ignore": ("DEV201",)}, ["DEV301"], id="ignored"),
        pytest.param({"ignore": ("DEV",)}, [], id="all-ignored"),
        pytest.param({"select": ("DEV201",), "ignore": ("DEV2",)}, ["DEV201"], id="the-more-specific-wins"),
        pytest.param({"per_file_ignores": (("train.py", ("DEV3",)),)}, ["DEV201"], id="ignored-in-this-file"),
        pytest.param({"per_file_ignores": (("other.py", ("DEV3",)),)}, ["DEV201", "DEV301"], id="ignored-elsewhere"),
    ],
)
def test_rules_are_selected_and_ignored(write, given, codes):
    text = HEAD + 'model.load_state_dict(torch.load("model.pt"))\n'
    outcome = apply(write(train=text), settings(**given))

    assert [item.finding.code for item in outcome.resolutions] == codes
    assert ("model.to(device)\nmodel(" in texts(outcome).get("train.py", "")) is ("DEV201" in codes)
    assert ("map_location=" in texts(outcome).get("train.py", "")) is ("DEV301" in codes)


@pytest.mark.parametrize(
    ("text", "severity", "found"),
    [
        pytest.param(OPTIMIZER, Severity.ERROR, [Severity.ERROR], id="errors-by-default"),
        pytest.param(ADVICE, Severity.ERROR, [], id="no-advice-by-default"),
        pytest.param(ADVICE, Severity.LATENT, [], id="no-advice-with-latent"),
        pytest.param(ADVICE, Severity.ADVICE, [Severity.ADVICE], id="advice-when-asked"),
        pytest.param(LATENT, Severity.ERROR, [], id="no-latent-by-default"),
        pytest.param(LATENT, Severity.LATENT, [Severity.LATENT], id="latent-when-asked"),
        pytest.param(LATENT, Severity.ADVICE, [Severity.LATENT], id="latent-with-advice"),
    ],
)
def test_severity_is_a_threshold(write, text, severity, found):
    outcome = check(write(train=text), settings(severity=severity))

    assert [item.finding.severity for item in outcome.resolutions] == found


@pytest.mark.parametrize(("is_program", "count"), [(False, 1), (True, 0)], ids=["of-this-scan", "of-another"])
def test_what_was_an_error_is_kept_in_the_scan_that_found_it(write, is_program, count):
    files = write(train=LATENT)
    (path,) = (file.path for file in files)
    (finding,) = scan_library(Workspace(files, settings(severity=Severity.LATENT)), path).findings
    space = Workspace(files, settings())
    space.errors = frozenset({(path, is_program, *identity(finding))})

    assert len(scan_library(space, path).findings) == count


def test_advice_is_repaired_when_asked_for(write):
    outcome = apply(write(train=ADVICE), settings(severity=Severity.ADVICE))

    assert texts(outcome)["train.py"].index("model.to(device)") < texts(outcome)["train.py"].index("Adam(")


def test_the_preferred_device_is_used_where_it_is_live(write):
    text = HEAD.replace("model = ", 'DEV = torch.device("cuda")\nmodel = ')
    outcome = apply(write(train=text), settings(device="DEV"))

    assert "nn.Linear(8, 3)\nmodel.to(DEV)\n" in texts(outcome)["train.py"]


# --- unsafe fixes ---------------------------------------------------------------------------------------------------
def test_pinned_memory_is_for_those_who_ask_for_unsafe_fixes(write):
    safe = apply(write(train=BATCH), settings())
    unsafe = apply(write(train=BATCH), settings(unsafe_fixes=True))

    moved = "    x = x.to(device, non_blocking=True)\n    y = y.to(device, non_blocking=True)\n"
    assert moved in texts(safe)["train.py"]
    assert "pin_memory" not in texts(safe)["train.py"]
    assert moved in texts(unsafe)["train.py"]
    assert "batch_size=4, pin_memory=True)" in texts(unsafe)["train.py"]
    assert unsafe.resolutions[0].fix.applicability is Applicability.UNSAFE
    assert any("pin_memory" in note for note in safe.resolutions[0].finding.notes)


def test_a_pinned_loader_needs_no_word(write):
    text = BATCH.replace("batch_size=4", "batch_size=4, pin_memory=True")

    assert check(write(train=text), settings()).resolutions[0].finding.notes == ()


def test_an_unsafe_fix_alone_is_left_until_it_is_asked_for(write, monkeypatch):
    only_unsafe(monkeypatch)

    left = apply(write(train=HEAD), settings())
    assert told(left) == [("DEV201", "train.py", Status.FIXABLE)]
    assert "--unsafe-fixes" in left.resolutions[0].reason
    assert left.patch.files == ()
    assert told(apply(write(train=HEAD), settings(unsafe_fixes=True))) == [("DEV201", "train.py", Status.FIXED)]


# --- comments -------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "comment",
    [
        "# devfix: ignore[DEV201] on purpose",
        "# devfix: ignore[replaced-submodule]",
        "# devfix: ignore[DEV101, DEV201]",
        "# devfix: ignore",
        "# noqa: DEV201",
        "# noqa",
    ],
)
def test_a_comment_suppresses_the_finding_and_its_edit(write, comment):
    text = HEAD.replace("nn.Linear(8, 3)\n", f"nn.Linear(8, 3)  {comment}\n")
    outcome = apply(write(train=text), settings())

    assert told(outcome) == [("DEV201", "train.py", Status.SUPPRESSED)]
    assert outcome.patch.files == ()


@pytest.mark.parametrize("comment", ["# devfix: ignore[DEV301]", "# noqa: F401", "# ignore", "# devfix ignore"])
def test_another_comment_does_not(write, comment):
    text = HEAD.replace("nn.Linear(8, 3)\n", f"nn.Linear(8, 3)  {comment}\n")

    assert told(apply(write(train=text), settings())) == [("DEV201", "train.py", Status.FIXED)]


def test_a_comment_that_nothing_needs_is_noted(write):
    outcome = apply(write(train=CLEAN.replace("\n\n", "\n\n# devfix: ignore[DEV201]\n")), settings())

    assert [(note.path, note.line) for note in outcome.notes] == [("train.py", 5)]
    assert "DEV201" in outcome.notes[0].message


def test_a_file_can_be_left_out_as_a_whole(write):
    outcome = apply(write(train="# devfix: skip-file\n" + HEAD), settings())

    assert outcome.resolutions == outcome.patch.files == ()


# --- fix_text -------------------------------------------------------------------------------------------------------
def test_fix_text_gives_the_text_after_repair(tmp_path):
    assert fix_text(str(tmp_path / "train.py"), HEAD) == HEAD_FIXED


def test_fix_text_uses_only_the_rules_of_these_codes(tmp_path):
    assert fix_text(str(tmp_path / "train.py"), HEAD, ("DEV101",)) == HEAD
    assert fix_text(str(tmp_path / "train.py"), HEAD, ("DEV101", "DEV201")) == HEAD_FIXED


@pytest.mark.parametrize("text", ["", "x = 1\n", CLEAN, "import torch\ndef (:\n", "\ufeffimport torch\n"])
def test_fix_text_gives_the_same_text_where_there_is_nothing_to_do(text):
    assert fix_text("<stdin>", text) is text


@pytest.mark.parametrize("text", [HEAD, BATCH, LOAD, OPTIMIZER], ids=["head", "batch", "load", "optimizer"])
@pytest.mark.parametrize("ending", ["\n", "\r\n"], ids=["lf", "crlf"])
def test_fix_text_is_stable(tmp_path, text, ending):
    path = str(tmp_path / "train.py")
    once = fix_text(path, text.replace("\n", ending))

    assert once != text.replace("\n", ending)
    assert once.count("\n") == once.count(ending)
    assert fix_text(path, once) == once


def test_the_engine_offers_these_verbs():
    assert sorted(fixpoint.__all__) == ["apply", "check", "fix_text", "settle"]


def test_the_old_async_argument_is_told_by_its_new_name(write):
    (problem,) = check(write(train=IMPORTS + "x = torch.ones(2).cuda(async=True)\n"), settings()).problems

    assert "non_blocking=" in problem.hint


def test_two_tensors_of_one_line_are_one_cause(tmp_path):
    text = (
        "import torch\nfrom torch import nn\n\n\nclass Reader(nn.Module):\n    def __init__(self):\n"
        "        super().__init__()\n        self.rnn = nn.LSTM(4, 6)\n        self.state = None\n\n"
        "    def forward(self, x):\n        out, self.state = self.rnn(x, self.state)\n        return out\n\n\n"
        "def run(reader):\n    reader.state = torch.zeros(1, 5, 6), torch.zeros(1, 5, 6)\n"
        "    return reader(torch.ones(3, 5, 4).cuda())\n\n\nrun(Reader().cuda())\n"
    )
    source = sources.SourceFile(str(tmp_path / "train.py"), text.encode(), text)

    outcome = check([source], Settings(root=str(tmp_path)))

    assert [(r.finding.code, r.finding.span.line) for r in outcome.resolutions] == [("DEV202", 17)]
