"""``devfix apply --trace`` on the programs of corpus/trace: what it repairs, and in how many runs.

``nox -s trace`` repairs every program, each in a process of its own, and prints the number of runs for each; the
ordinary suite repairs a sample in this process.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import statistics
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest
from in_process import Result, run_in_process

from devfix.verify.runs import run

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

pytest.importorskip("torch")

ROOT = Path(__file__).parents[2]
META = {
    path.parent.name: tomllib.loads(path.read_text(encoding="utf-8"))
    for path in sorted((ROOT / "corpus" / "trace").glob("*/case.toml"))
}
SAMPLE = ("adapters_by_setattr_walk", "mover_makes_new_parameters", "package_contrastive_loss")
ALL = bool(os.environ.get("DEVFIX_ALL_TRACE"))
RUN = list(META) if ALL else list(SAMPLE)
FIXED = [name for name in RUN if META[name]["trace"]["outcome"] == "fixed"]
REPORTED = [name for name in RUN if META[name]["trace"]["outcome"] == "reported"]


@dataclass(frozen=True)
class Applied:
    """How the command left a copy of a program."""

    folder: Path
    environment: dict[str, str]
    code: int
    report: dict[str, object]
    stderr: str
    changed: tuple[str, ...]

    @property
    def runs(self) -> int:
        """How many runs looked for the repair."""
        found = re.search(r"found with (\d+) runs", self.stderr)
        return int(found[1]) if found else 1


def apply(name: str, folder: Path) -> Applied:
    case, meta = ROOT / "corpus" / "trace" / name, META[name]
    shutil.copytree(case / "broken", folder)
    packages = os.pathsep.join(str(case / each) for each in meta.get("path", ()))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, (packages, str(ROOT))))}
    subprocess.run(["git", "init", "-q", folder], check=True)
    subprocess.run(["git", "add", "-A"], cwd=folder, check=True)
    arguments = ["apply", "--trace", meta["script"], "--output-format", "json"]
    arguments += [f"--setup={shlex.join(meta['setup'])}"] if "setup" in meta else []
    done = (run_process if ALL else run_here)([*arguments, "--", *meta["args"]], folder, environment)
    changed = subprocess.run(["git", "diff", "--name-only"], cwd=folder, capture_output=True, text=True, check=True)
    report = json.loads(done.stdout) if done.stdout else {}
    return Applied(folder, environment, done.code, report, done.stderr, tuple(changed.stdout.split()))


def run_process(arguments: list[str], folder: Path, environment: dict[str, str]) -> Result:
    command = [sys.executable, "-m", "devfix", *arguments]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=False)
    return Result(done.returncode, done.stdout, done.stderr.decode())


def run_here(arguments: list[str], folder: Path, environment: dict[str, str]) -> Result:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", environment["PYTHONPATH"])
        return run_in_process(*arguments, cwd=folder)


@pytest.fixture(scope="module")
def applied(tmp_path_factory):
    """What became of every program; of those in processes, as many at a time as there are cores."""
    folder = tmp_path_factory.mktemp("trace")
    if not ALL:
        return {name: apply(name, folder / name) for name in RUN}
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return dict(zip(RUN, pool.map(lambda name: apply(name, folder / name), RUN), strict=True))


@pytest.mark.parametrize("name", FIXED)
def test_a_program_is_repaired_and_trains_on_the_cpu_as_it_should(applied, name):
    meta, found = META[name], applied[name]
    right = "fixed" if meta.get("error") == "silent" else "broken"  # what fails silently is wrong on the CPU, too

    assert found.code == 0, found.report
    assert found.stderr.splitlines()[-1].startswith("fixed: ")
    assert found.changed
    wanted, repaired = (
        run(meta["script"], meta["args"], "cpu", folder, env=found.environment, setup=meta.get("setup"))
        for folder in (ROOT / "corpus" / "trace" / name / right, found.folder)
    )
    assert wanted.ok and len(wanted.losses) >= 3
    assert (repaired.losses, repaired.digest, repaired.random) == (wanted.losses, wanted.digest, wanted.random)


@pytest.mark.parametrize("name", REPORTED)
def test_what_lies_in_a_package_is_told_and_nothing_is_edited(applied, name):
    found = applied[name]

    assert (found.code, found.changed) == (1, ())
    (finding,) = found.report["findings"]
    assert finding["status"] == "not-fixed"
    assert META[name]["trace"]["package"] in finding["message"]


@pytest.mark.positions
def test_repairs_need_few_runs(applied, capsys):
    runs = {name: applied[name].runs for name in FIXED if applied[name].changed}
    with capsys.disabled():
        print("\n" + "\n".join(f"{number:4} runs  {name}" for name, number in runs.items()))
        print(f"median {statistics.median(runs.values())} runs for {len(runs)} programs")

    assert statistics.median(runs.values()) <= 4
