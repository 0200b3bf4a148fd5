"""Benchmark of the HTML report for 1,000 repositories: writing, opening and using it in Chromium.

Findings and diffs are those of the corpus; losses are made up.  Opening is timed from the navigation until the page has
been laid out and answers.  Exits with 1 where that takes longer than the limit.  Run: ``python benchmarks/report.py
[repositories] [--keep FILE]``.
"""

from __future__ import annotations

import argparse
import math
import os
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import cycle, islice
from pathlib import Path

from devfix import sources
from devfix.config import Settings
from devfix.engine import fixpoint
from devfix.engine.documents import finding_document, problem_document
from devfix.migrate.record import Record, RepositoryOutcome, RunSummary, VerdictSummary
from devfix.model import Outcome, Status
from devfix.report.migrations import page
from devfix.vcs import unified_diff

LIMIT = 2.0
ROUNDS = 5
CORPUS = Path(__file__).parents[1] / "corpus"

#: User actions as calls of the page's script; each is timed until the next frame.
ACTIONS = {
    "filter by outcome": "document.querySelector('[name=outcome]').click()",
    "filter by rule": "(s => { s.selectedIndex = 1; s.dispatchEvent(new Event('input', {bubbles: true})) })"
    "(document.querySelector('[name=rule]'))",
    "search, first": "(t => { t.value = 'labels'; t.dispatchEvent(new Event('input', {bubbles: true})) })"
    "(document.querySelector('[name=text]'))",
    "search, next": "(t => { t.value = 'optimizer'; t.dispatchEvent(new Event('input', {bubbles: true})) })"
    "(document.querySelector('[name=text]'))",
    "show all": "document.querySelector('[type=reset]').click()",
    "sort by name": "document.querySelector('.sort').click()",
    "open a repository": "document.querySelector('button.open').click()",
}
TIMED = """action => new Promise(done => {
  const start = performance.now();
  (0, eval)(action);
  const settle = () => requestAnimationFrame(() => setTimeout(() => done(performance.now() - start)));
  setTimeout(settle, action.includes("'input'") ? 81 : 1);
})"""


def worked_on() -> list[tuple[str, Outcome]]:
    """Return the engine's result for each program of the corpus: every ninth is only reported, the others are fixed."""
    found = []
    here = os.getcwd()
    for number, case in enumerate(sorted(CORPUS.glob("*/*/case.toml"))):
        folder = case.parent / ("fixed" if number % 5 == 4 else "broken")
        if not folder.is_dir():
            continue
        os.chdir(folder)  # so that paths are relative to it
        files, _ = sources.load((".",), (), str(folder))
        work = fixpoint.check if number % 9 == 8 else fixpoint.apply
        found.append((case.parent.name, work(files, Settings(root=str(folder)))))
    os.chdir(here)
    return found


def records(count: int) -> Iterator[Record]:
    for number, (name, outcome) in enumerate(islice(cycle(worked_on()), count)):
        yield record(number, name, outcome)


def record(number: int, name: str, outcome: Outcome) -> Record:
    left = [item for item in outcome.resolutions if item.status in (Status.FIXABLE, Status.NOT_FIXED)]
    word = RepositoryOutcome.CLEAN
    if outcome.resolutions:
        word = RepositoryOutcome.NOT_FIXED if left else RepositoryOutcome.FIXED
    if number % 40 == 39:
        return failed(number, name)
    return Record(
        number=number,
        name=f"{name}-{number:04}",
        repository=f"https://git.example.org/research/{name}-{number:04}",
        commit=f"{number * 2654435761 % 2**64:040x}",
        outcome=word,
        findings=tuple(map(finding_document, outcome.resolutions)),
        problems=tuple(map(problem_document, outcome.problems)),
        checked=outcome.checked,
        patch=unified_diff.unified(outcome.patch).decode("utf-8", "surrogateescape"),
        verdict=verdict(number) if outcome.patch.files else None,
        reason=f"{len(left)} findings are left: {left[0].reason or 'a fix was not asked for'}" if left else "",
        seconds=0.2 + number % 7,
        timings={"fetch": 0.1, "scan": 0.1},
    )


def failed(number: int, name: str) -> Record:
    return Record(
        number=number,
        name=f"{name}-{number:04}",
        repository=f"https://git.example.org/research/{name}-{number:04}",
        outcome=RepositoryOutcome.FAILED,
        stage="fetch",
        reason="git ended with 128: the remote hung up",
        seconds=30.0,
        log="\x1b[31mfatal:\x1b[0m the remote end hung up unexpectedly\n" * 40,
    )


def verdict(number: int) -> VerdictSummary:
    """Return a verdict with losses: a thousand for every tenth repository, twenty for the others."""
    losses = tuple(
        2.3 * math.exp(-step / 300) + 0.05 * math.sin(step) for step in range(1000 if number % 10 == 0 else 20)
    )
    message = "RuntimeError: Expected all tensors to be on the same device, but found at least two devices"
    error = f"{message}, cuda:0 and cpu!"
    ended = "ended by itself"
    runs = {
        "original/cpu": RunSummary(ended, True, len(losses), losses),
        "original/device": RunSummary(error, False, 0, traceback=f"Traceback (most recent call last):\n{error}\n" * 8),
        "patched/cpu": RunSummary(ended, True, len(losses), losses, largest_difference=0.0),
        "patched/device": RunSummary(ended, True, len(losses), losses, largest_difference=0.0),
    }
    return VerdictSummary(
        "fixed",
        "the original raises a device error and the patched script trains the same losses, bit for bit",
        True,
        reference="original/cpu",
        where="a simulated CUDA device, torch 2.13.0",
        script="train.py",
        arguments=("--epochs", "2"),
        runs=runs,
    )


def seconds_to_open(browser: object, address: str) -> tuple[float, dict[str, float]]:
    """Return the seconds until the page is interactive, and the milliseconds of each action."""
    page = browser.new_page(bypass_csp=True)  # type: ignore[attr-defined]  # the actions are evaluated
    start = time.perf_counter()
    page.goto(address, wait_until="load")
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => setTimeout(done)))")
    opened = time.perf_counter() - start
    taken = {name: page.evaluate(TIMED, action) for name, action in ACTIONS.items()}
    page.close()
    return opened, taken


def main() -> int:
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("repositories", type=int, nargs="?", default=1000)
    parser.add_argument("--keep", metavar="FILE", help="write the page there")
    arguments = parser.parse_args()
    made = list(records(arguments.repositories))
    start = time.perf_counter()
    text = page.page(made)
    written = time.perf_counter() - start
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "report.html")
        file.write_text(text, encoding="utf-8")
        if arguments.keep:
            shutil.copy(file, arguments.keep)
        with sync_playwright() as playwright:
            executable = shutil.which("chromium") or shutil.which("google-chrome")
            browser = playwright.chromium.launch(executable_path=executable)
            rounds = [seconds_to_open(browser, file.as_uri()) for _ in range(ROUNDS)]
            browser.close()
    opened = statistics.median(taken for taken, _ in rounds)
    print(f"{len(made)} repositories: {len(text) / 1e6:.1f} MB, written in {written:.2f} s")
    print(f"opened in {opened:.2f} s (limit {LIMIT}), slowest {max(taken for taken, _ in rounds):.2f} s")
    for name in ACTIONS:
        print(f"  {name:<18} {statistics.median(taken[name] for _, taken in rounds):6.0f} ms")
    return int(opened > LIMIT)


if __name__ == "__main__":
    sys.exit(main())
