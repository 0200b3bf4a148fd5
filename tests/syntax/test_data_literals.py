"""Of long data a few lines are followed, unless something is wrong."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devfix.config import Settings
from devfix.engine import fixpoint
from devfix.sources import SourceFile
from devfix.syntax import data_literals
from devfix.syntax.data_literals import COLLAPSE_THRESHOLD, collapse_repeated_literals

STATEMENTS = "TABLE.append(torch.tensor([0.125, -1e-3, 5]))\n"
RECORDS = '    {\n        "name": "n1",\n        "values": [1, 2.5],\n    },\n'


def long(line, head="import torch\n", tail=""):
    return head + line * (1 + COLLAPSE_THRESHOLD // len(line)) + tail


@pytest.mark.parametrize(
    "text",
    [
        long(STATEMENTS, "import torch\nTABLE = []\n", "print(TABLE)\n"),
        long("    [0.5, 1.5],\n", "DATA = [\n", "]\n"),
        long(RECORDS, "DATA = [\n", "]\n"),
        long("    0.5,\r\n", "DATA = (\r\n", ")\r\n"),
    ],
    ids=["statements", "rows", "records of several lines", "CRLF"],
)
def test_most_lines_are_left_out_and_the_others_keep_their_places(text):
    short = collapse_repeated_literals(text)

    lines, kept = text.splitlines(), short.splitlines()
    assert len(kept) == len(lines) and len(short) < len(text) / 5
    assert all(after in (before, "") for before, after in zip(lines, kept, strict=True))
    assert kept[-1] == lines[-1] and kept[0] == lines[0]
    assert len(ast.parse(short).body) > 0


@pytest.mark.parametrize(
    "text",
    [
        STATEMENTS * 10,
        long("".join(f"def f{chr(97 + n)}(x):\n    return x{'.t()' * n}\n" for n in range(20))),
        long("".join(f"print('{name}')\n" for name in ("cpu", "cuda:0", "meta"))).replace("print", "print" * 3, 50),
    ],
    ids=["short", "code", "names of devices differ"],
)
def test_nothing_is_left_out_of_what_is_no_data(text):
    short = collapse_repeated_literals(text)

    assert short is None or set(short.splitlines()) - {""} == set(text.splitlines())


def test_lines_that_name_devices_are_not_alike():
    many = range(COLLAPSE_THRESHOLD // 30)
    lines = [f"X.append(torch.ones(2, device='{('cpu', 'cuda')[n % 7 == 0]}'))\n" for n in many]

    short = collapse_repeated_literals("import torch\nX = []\n" + "".join(lines)) or "".join(lines)

    assert "'cpu'" in short and "'cuda'" in short


def test_equal_lines_are_looked_at_once(monkeypatch):
    seen = []
    shape = data_literals._shape
    monkeypatch.setattr(data_literals, "_shape", lambda line: seen.append(line) or shape(line))

    collapse_repeated_literals(long("x = 1\n"))

    assert seen == ["import torch\n", "x = 1\n"]


def longest_of_all_periods(shapes, start):
    best = (1, start)
    for period in range(1, 9):
        end = start + period
        while end < len(shapes) and shapes[end] == shapes[end - period]:
            end += 1
        if end > best[1] and end - start >= 3 * period:
            best = (period, end)
    return best


@given(st.lists(st.integers(0, 2), max_size=12), st.integers(1, 12), st.lists(st.integers(0, 2), max_size=20))
def test_the_longest_run_is_found_without_trying_every_period(record, times, rest):
    shapes = record * times + rest

    assert data_literals._longest_run(shapes, 0) == longest_of_all_periods(shapes, 0)


def check(text):
    (found,) = [fixpoint.check([SourceFile("train.py", text.encode(), text)], Settings(root="."))]
    return [(item.finding.code, item.finding.span.line) for item in found.resolutions]


def test_a_bug_is_found_in_the_same_lines_with_and_without_data():
    bug = (
        "device = torch.device('cuda')\nmodel = torch.nn.Linear(2, 2).to(device)\n"
        "for row in ROWS:\n    model(torch.tensor(row))\n"
    )
    rows = long("    [0.5, 1.5],\n", "import torch\nROWS = [\n", "]\n")
    short = "import torch\nROWS = [\n    [0.5, 1.5],\n]\n"

    shift = rows.count("\n") - short.count("\n")

    assert check(short + bug)
    assert check(rows + bug) == [(code, line + shift) for code, line in check(short + bug)]


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads /proc")
def test_a_table_of_a_megabyte_takes_little_memory(tmp_path):
    text = "import torch\nTABLE = []\n" + STATEMENTS * ((1 << 20) // len(STATEMENTS))
    (tmp_path / "table.py").write_text(text)
    program = (
        "from devfix.cli import main\n"
        "try:\n    main(['check', '--no-cache', 'table.py'])\nexcept SystemExit as ended:\n    print(ended.code)\n"
        "print(open('/proc/self/status').read().partition('VmHWM:')[2].split()[0])"
    )

    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True)

    code, peak_kb = done.stdout.split()[-2:]
    assert (code, int(peak_kb) < 150 * 1024) == ("0", True), (code, peak_kb)
