"""The loop around the rules: what is repaired, what is left and why, and that nothing is done twice."""

from __future__ import annotations

from dataclasses import replace

import pytest

import codemods
from devfix import engine, sources
from devfix.config import Settings
from devfix.engine import apply, check, fix_text
from devfix.model import Safety, Severity, Status

IMPORTS = "import torch\nfrom torch import nn\nfrom torch.utils.data import DataLoader, TensorDataset\n\n"
DEVICE = 'device = torch.device("cuda" if torch.cuda.is_available() else "cpu")\n'
HEAD = (
    IMPORTS + DEVICE + "model = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 2))\n"
    "model.to(device)\n"
    "model[1] = nn.Linear(8, 3)\n"
    "model(torch.randn(2, 4, device=device)).sum().backward()\n"
)
HEAD_FIXED = HEAD.replace("nn.Linear(8, 3)\n", "nn.Linear(8, 3)\nmodel.to(device)\n")
BATCH = (
    IMPORTS + DEVICE + "model = nn.Linear(4, 2).to(device)\n"
    "loader = DataLoader(TensorDataset(torch.randn(8, 4), torch.randn(8, 2)), batch_size=4)\n"
    "for x, y in loader:\n"
    "    nn.functional.mse_loss(model(x), y).backward()\n"
)
LOAD = IMPORTS + DEVICE + 'model = nn.Linear(4, 2).to(device)\nmodel.load_state_dict(torch.load("model.pt"))\n'
OPTIMIZER = (
    IMPORTS + DEVICE + "model = nn.Linear(4, 2)\n"
    "optimizer = torch.optim.Adagrad(model.parameters())\n"
    "model.to(device)\n"
    "model(torch.randn(2, 4, device=device)).sum().backward()\n"
    "optimizer.step()\n"
)
ADVICE = OPTIMIZER.replace("Adagrad", "Adam")
LATENT = (
    "import torch\nfrom torch import nn\n\n\n"
    "class Noise(nn.Module):\n"
    "    def __init__(self):\n"
    "        super().__init__()\n"
    '        self.net = nn.Linear(4, 4).to("cuda")\n\n'
    "    def forward(self, loader):\n"
    "        for x in loader:\n"
    "            self.net(torch.zeros(4))\n"
)
CLEAN = IMPORTS + "print(nn.Linear(4, 2)(torch.randn(2, 4)))\n"


@pytest.fixture
def write(tmp_path, monkeypatch):
    """Write texts, and give them as read files, under the names that a user would give."""
    monkeypatch.chdir(tmp_path)

    def call(**texts: str):
        for name, text in texts.items():
            path = tmp_path / f"{name.replace('__', '/')}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode())
        return [sources.read(f"{name.replace('__', '/')}.py") for name in texts]

    return call


def settings(**given):
    return Settings(root=".", **given)


def told(outcome):
    return [(item.finding.code, item.finding.path, item.status) for item in outcome.resolutions]


def texts(outcome):
    return {change.path: change.new.decode() for change in outcome.patch.files}


# --- the two verbs --------------------------------------------------------------------------------------------------
def test_check_finds_and_changes_nothing(write):
    outcome = check(write(train=HEAD), settings())

    assert told(outcome) == [("DEV201", "train.py", Status.FIXABLE)]
    assert outcome.resolutions[0].remedy is not None
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
    assert unsafe.resolutions[0].remedy.safety is Safety.UNSAFE
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


def with_rules(monkeypatch, **detect):
    """Replace the detection of rules by their codes."""
    rules = tuple(
        replace(rule, detect=detect[rule.code]) if rule.code in detect else rule for rule in codemods.all_rules()
    )
    monkeypatch.setattr(codemods, "all_rules", lambda: rules)


def changed_remedies(monkeypatch, change):
    original = codemods.rule_for("DEV201").detect

    def detect(facts):
        for finding in original(facts):
            yield replace(finding, remedies=tuple(change(remedy) for remedy in finding.remedies))

    with_rules(monkeypatch, DEV201=detect)


def only_unsafe(monkeypatch):
    changed_remedies(monkeypatch, lambda remedy: replace(remedy, safety=Safety.UNSAFE))


# --- edits that do not hold -----------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("code", "reason"),
    [
        pytest.param("print(model)", "the finding is still there", id="does-not-help"),
        pytest.param(
            "model.to(device)[1].weight + model[1].weight.cpu()", "would fail instead", id="brings-a-new-hazard"
        ),
        pytest.param(
            "model.to(device).load_state_dict(torch.load('w.pt'))", "bring a new finding", id="brings-a-new-finding"
        ),
        pytest.param("x = = 1", "cannot be placed", id="does-not-compile"),
    ],
)
def test_an_edit_that_does_not_hold_is_dropped_with_the_reason(write, monkeypatch, code, reason):
    changed_remedies(
        monkeypatch, lambda remedy: replace(remedy, edits=tuple(replace(edit, code=code) for edit in remedy.edits))
    )
    outcome = apply(write(train=HEAD), settings(ignore=("DEV501",)))

    assert told(outcome) == [("DEV201", "train.py", Status.NOT_FIXED)]
    assert reason in outcome.resolutions[0].reason
    assert outcome.patch.files == ()


def test_an_edit_that_brings_a_new_finding_is_tried_again_after_another_repair(write):
    text = BATCH.replace("    nn.functional", "    x = x.cuda()\n    nn.functional")

    outcome = apply(write(train=text), settings())

    assert {item.status for item in outcome.resolutions} == {Status.FIXED}
    assert "    x = x.to(device)\n    y = y.to(device)\n" in texts(outcome)["train.py"]


MARGIN = (
    IMPORTS + DEVICE + "\n\n"
    "class Margin(nn.Module):\n"
    "    def __init__(self):\n"
    "        super().__init__()\n"
    "        self.anchors = nn.Parameter(torch.randn(4, 2))\n\n"
    "    def forward(self, z, y):\n"
    "        near = self.anchors + y\n"
    "        return (z - near).pow(2).mean()\n\n\n"
    "net = nn.Linear(3, 2).to(device)\n"
    "margin = Margin()\n"
    "y = torch.ones(4, 2)\n"
    "y.to(device)\n"
    "margin(net(torch.randn(4, 3).to(device)), y).backward()\n"
)


def test_edits_that_fail_one_without_the_other_are_made_together(write):
    outcome = apply(write(train=MARGIN), settings())

    assert told(outcome) == [("DEV204", "train.py", Status.FIXED), ("DEV103", "train.py", Status.FIXED)]
    new = MARGIN.replace("margin = Margin()", "margin = Margin().to(device)").replace("\ny.to(", "\ny = y.to(")
    assert texts(outcome)["train.py"] == new


FOLLOWED = f"""\
{IMPORTS}

class Embedding(nn.Module):
    def forward(self, step):
        return step[:, None] * torch.arange(4)[None, :]


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.step = nn.Sequential(Embedding(), nn.Linear(4, 4))

    def forward(self, x, t):
        return x + self.step(t)


def noised(x, t):
    return table.gather(0, t)[:, None] * x


table = torch.rand(9)
{DEVICE}net = Net().to(device)
x = torch.rand(3, 4).to(device)
t = torch.randint(0, 9, (3,))
net(noised(x, t), t)
"""


def test_what_an_edit_makes_meet_is_repaired_with_it(write):
    outcome = apply(write(train=FOLLOWED), settings())

    assert told(outcome) == [("DEV102", "train.py", Status.FIXED)]
    new = FOLLOWED.replace("self.step(t)", "self.step(t.to(x.device))").replace(
        "arange(4)", "arange(4, device=step.device)"
    )
    assert texts(outcome)["train.py"] == new.replace("t)[:, None]", "t)[:, None].to(x.device)")


def test_it_is_not_where_a_comment_answers_for_it(write):
    text = FOLLOWED.replace("torch.arange(4)[None, :]", "torch.arange(4)[None, :]  # devfix: ignore[DEV102]")

    outcome = apply(write(train=text), settings())

    assert not outcome.patch.files


def test_where_one_of_two_edits_is_left_out_the_other_is_not_made(write):
    files = write(train=MARGIN)
    left = [item.finding for item in check(files, settings()).resolutions if item.finding.code == "DEV103"]

    outcome = apply(files, settings(), without=left)

    assert outcome.patch.files == ()
    assert ["would fail instead" in item.reason for item in outcome.resolutions] == [True, False]


def test_the_next_remedy_is_tried_where_the_first_does_not_hold(write, monkeypatch):
    original = codemods.rule_for("DEV201").detect

    def detect(facts):
        for finding in original(facts):
            (good,) = finding.remedies
            bad = replace(good, edits=tuple(replace(edit, code="print(model)") for edit in good.edits))
            yield replace(finding, remedies=(bad, good))

    with_rules(monkeypatch, DEV201=detect)

    assert texts(apply(write(train=HEAD), settings())) == {"train.py": HEAD_FIXED}


def test_what_does_not_hold_is_tried_again_after_another_repair(write, monkeypatch):
    """The last finding is tried first; its edit holds only where the model has been moved again."""
    tried = []
    original = engine._attempt

    def attempt(space, before, finding, collected):
        tried.append(finding.code)
        if finding.code == "DEV102" and space.text(finding.path).count("model.to(device)") < 2:
            return "not yet"
        return original(space, before, finding, collected)

    monkeypatch.setattr(engine, "_attempt", attempt)
    outcome = apply(write(train=HEAD + "x = torch.randn(2, 4)\nmodel(x)\n"), settings())

    assert tried == ["DEV102", "DEV201", "DEV102"]
    assert {item.status for item in outcome.resolutions} == {Status.FIXED}


def test_a_finding_without_a_remedy_keeps_its_reason(write):
    text = IMPORTS + 'print(nn.Linear(4, 2).to("cuda")(torch.ones(2, 4)))\n'
    outcome = apply(write(train=text), settings())

    assert told(outcome) == [("DEV102", "train.py", Status.NOT_FIXED)]
    assert outcome.resolutions[0].reason


# --- several files --------------------------------------------------------------------------------------------------
PARTS = {
    "models": "from torch import nn\n\n\ndef build(device):\n"
    "    model = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 2)).to(device)\n"
    "    model[1] = nn.Linear(8, 3)\n    return model\n",
    "train": 'import torch\n\nfrom models import build\n\ndevice = torch.device("cuda")\n'
    "model = build(device)\nmodel(torch.randn(2, 4, device=device)).sum().backward()\n",
}


def test_an_edit_that_belongs_in_another_file_is_reported_with_the_command(write):
    outcome = apply(write(**PARTS)[1:], settings())

    assert told(outcome) == [("DEV201", "models.py", Status.NOT_FIXED)]
    assert "models.py" in outcome.resolutions[0].reason
    assert "devfix apply models.py" in outcome.resolutions[0].reason
    assert outcome.patch.files == ()


def test_it_is_made_when_that_file_is_given_too(write):
    outcome = apply(write(**PARTS), settings())

    assert told(outcome) == [("DEV201", "models.py", Status.FIXED)]
    assert list(texts(outcome)) == ["models.py"]


def test_a_cause_that_two_programs_share_is_one_finding(write):
    outcome = apply(write(**PARTS, again=PARTS["train"]), settings())

    assert told(outcome) == [("DEV201", "models.py", Status.FIXED)]


def test_the_command_that_is_named_does_it(write):
    files = write(**PARTS)
    (resolution,) = apply(files[1:], settings()).resolutions
    named = resolution.reason.rsplit("devfix apply ", 1)[1].split()
    outcome = apply([sources.read(name) for name in [*named, "train.py"]], settings())

    assert {item.status for item in outcome.resolutions} == {Status.FIXED}


# pytest-xdist's own thread is what Python 3.12 warns of where processes fork
forks = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")


def many(write):
    kinds = {
        "head": HEAD,
        "batch": BATCH,
        "load": LOAD,
        "optimizer": OPTIMIZER,
        "clean": CLEAN,
        "bad": "def (:\n# torch\n",
    }
    return write(**{f"{kind}{number}": text for number in range(3) for kind, text in kinds.items()}, **PARTS)


@forks
def test_the_outcome_is_the_same_for_any_number_of_workers(write):
    files = many(write)

    alone, together = apply(files, settings(), jobs=1), apply(files, settings(), jobs=4)
    assert alone == together
    assert len(alone.resolutions) == 13
    assert len(alone.problems) == 3


@forks
def test_the_outcome_is_the_same_for_any_order_of_the_files(write):
    files = many(write)

    assert apply(files, settings()) == apply(files[::-1], settings())
    assert check(files, settings(), jobs=2) == check(files[::-1], settings(), jobs=1)


def test_the_outcome_is_sorted_by_path_and_position(write):
    outcome = apply(many(write), settings())
    positions = [(item.finding.path, item.finding.span) for item in outcome.resolutions]

    assert positions == sorted(positions)
    assert [change.path for change in outcome.patch.files] == sorted(change.path for change in outcome.patch.files)
    assert [problem.path for problem in outcome.problems] == ["bad0.py", "bad1.py", "bad2.py"]


# --- bad files ------------------------------------------------------------------------------------------------------
def test_a_file_that_cannot_be_parsed_is_one_problem_and_the_rest_is_done(write):
    outcome = apply(write(bad="import torch\nfor\n", train=HEAD), settings())

    assert [(problem.path, problem.line) for problem in outcome.problems] == [("bad.py", 2)]
    assert "cannot be parsed" in outcome.problems[0].message
    assert list(texts(outcome)) == ["train.py"]


def test_a_crash_of_a_rule_is_one_problem_of_that_file_and_the_rest_is_done(write, monkeypatch):
    monkeypatch.delenv("DEVFIX_TRACEBACK", raising=False)
    original = codemods.rule_for("DEV201").detect

    def detect(facts):
        if facts.path == "odd.py":
            raise ZeroDivisionError("oops")
        return original(facts)

    with_rules(monkeypatch, DEV201=detect)
    outcome = apply(write(odd=HEAD, train=HEAD), settings())

    assert [problem.path for problem in outcome.problems] == ["odd.py"]
    assert "ZeroDivisionError" in outcome.problems[0].message
    assert told(outcome) == [("DEV201", "train.py", Status.FIXED)]


def test_a_crash_while_an_edit_is_tried_drops_the_edit(write, monkeypatch):
    monkeypatch.delenv("DEVFIX_TRACEBACK", raising=False)
    original = codemods.rule_for("DEV201").detect
    calls = []

    def detect(facts):
        calls.append(facts)
        if len(calls) > 1:
            raise ZeroDivisionError("oops")
        return original(facts)

    with_rules(monkeypatch, DEV201=detect)
    outcome = apply(write(train=HEAD), settings())

    assert outcome.patch.files == ()
    assert told(outcome) in ([("DEV201", "train.py", Status.NOT_FIXED)], [])
    assert outcome.problems or outcome.resolutions


def test_deep_nesting_is_no_traceback(write):
    deep = IMPORTS + "x = " + "(" * 80 + "1" + ")" * 80 + "\n" + HEAD

    assert told(apply(write(train=deep), settings())) == [("DEV201", "train.py", Status.FIXED)]


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
    assert sorted(engine.__all__) == ["apply", "check", "fix_text", "settle"]


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
