"""Record what a GPU says to the table of probes.

    python tests/conformance/record.py OUT.json                 # torch with CUDA, a GPU; expecttest for the operators
    python tests/conformance/record.py OUT.json --only add      # operators whose name begins so, for a look
    python tests/conformance/record.py OUT.json --source "..."  # what ran it, if not a GPU

The folder of this file is all that has to travel: nothing of the project is imported.  Probes run in a process of
their own; one that dies (a kernel's assertion spoils the device for the rest of the process) is recorded as ``died``,
and the next process goes on after it.  Exit code 1, and one line, without a GPU.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
_SILENCE = 90  # seconds after which a probe counts as hung
_SPOILED = ("AcceleratorError", "CUDA error", "device-side assert", "CUDA driver error")
_DEATHS = 25  # of one operator, after which it is left


def _say(**line: Any) -> None:
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


def work(start: str, known: dict[str, str], only: str) -> None:
    """Run the groups from ``start`` on and print a line before and after each probe that is not known."""
    sys.path.insert(0, str(HERE.parent))
    import torch

    from conformance.probes import HAND, operators, outcome, probes

    torch.zeros(1).cuda()
    try:
        entries, missing = operators(), None
    except ImportError as error:
        entries, missing = {}, str(error)
    groups = [group for group in (HAND, *sorted(entries)) if group.startswith(only)]
    _say(groups=groups, missing=missing)
    for group in groups[groups.index(start) if start else 0 :]:
        given = known if group == start else {}
        _say(group=group)
        for probe in probes(group, entries):
            if probe.name in given:
                continue
            _say(begin=probe.name)
            text = outcome(probe.call, answers=group == HAND)
            if any(word in text for word in _SPOILED):
                _say(end=text, spoiled=True)
                os._exit(1)
            _say(end=text)
    _say(done=True)


class Recording:
    """What the workers said so far."""

    def __init__(self) -> None:
        self.outcomes: dict[str, dict[str, str]] = {}
        self.group = ""
        self.begun: str | None = None
        self.spoiled = False
        self.done = False
        self.missing: str | None = None
        self.groups: list[str] = []
        self.left: dict[str, str] = {}

    def hear(self, line: dict[str, Any]) -> None:
        """Take in one line of a worker."""
        if "groups" in line:
            self.missing, self.groups = line["missing"], line["groups"]
        elif "group" in line:
            self.group = line["group"]
            self.outcomes.setdefault(self.group, {})
        elif "begin" in line:
            self.begun = line["begin"]
        elif "end" in line:
            assert self.begun is not None
            self.outcomes[self.group][self.begun] = line["end"]
            self.begun = None
            self.spoiled = "spoiled" in line
        elif "done" in line:
            self.done = True

    def mourn(self, why: str) -> str:
        """A worker has died: blame the probe that ran; the group to go on with."""
        if self.begun is not None:
            self.outcomes[self.group][self.begun] = why
            self.begun = None
        elif self.spoiled:
            self.spoiled = False
        elif not self.left.get(self.group):
            self.left[self.group] = "between probes"  # making the samples kills: leave the operator
        deaths = sum(text in ("died", "hung") for text in self.outcomes[self.group].values())
        if deaths >= _DEATHS or self.left.get(self.group) == "between probes":
            self.left[self.group] = why
            after = self.groups.index(self.group) + 1
            if after == len(self.groups):
                self.done = True
                return self.group
            self.group = self.groups[after]
            self.outcomes.setdefault(self.group, {})
        return self.group


def _one_worker(recording: Recording, start: str, only: str) -> str:
    """Run a worker to its end; how it ended."""
    with tempfile.TemporaryDirectory() as folder:
        known = Path(folder) / "known.json"
        known.write_text(json.dumps(recording.outcomes.get(start, {})), encoding="utf-8")
        command = [sys.executable, str(Path(__file__).resolve()), "--worker", start, str(known), "--only", only]
        errors = Path(folder) / "stderr"
        with errors.open("wb") as stderr:
            process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=stderr)
            watch = _Watch(process)
            assert process.stdout is not None
            for raw in process.stdout:
                watch.beat()
                if raw.startswith(b"{"):
                    recording.hear(json.loads(raw))
            process.wait()
            watch.stop()
        if not recording.groups:
            raise SystemExit(errors.read_text(encoding="utf-8", errors="replace")[-2000:])
    return "hung" if watch.bit else "died"


class _Watch:
    """Kills a process that says nothing for too long."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        import threading

        self.process = process
        self.last = time.monotonic()
        self.bit = False
        self._over = threading.Event()
        threading.Thread(target=self._watch, daemon=True).start()

    def _watch(self) -> None:
        while not self._over.wait(1):
            if time.monotonic() - self.last > _SILENCE:
                self.bit = True
                self.process.kill()
                return

    def beat(self) -> None:
        self.last = time.monotonic()

    def stop(self) -> None:
        self._over.set()


def record(only: str) -> Recording:
    """Run the whole table in as many processes as it takes."""
    recording = Recording()
    start = ""
    while not recording.done:
        why = _one_worker(recording, start, only)
        if not recording.done:
            start = recording.mourn(why)
            print(f"  a process {why} in {start}; the next goes on", file=sys.stderr, flush=True)
    return recording


def written(recording: Recording, source: str) -> str:
    """The file's text: distinct outcomes once, then one line per operator with the number of each probe's outcome."""
    import torch

    texts = sorted({text for group in recording.outcomes.values() for text in group.values()})
    number = {text: index for index, text in enumerate(texts)}
    head = {
        "torch": torch.__version__,
        "cuda": torch.version.cuda,
        "python": platform.python_version(),
        "source": source,
        "not run": recording.missing,
        "left": recording.left,
    }
    lines = [f"{json.dumps(key)}: {json.dumps(value)}," for key, value in head.items()]
    lines += ['"outcomes": [', ",\n".join(json.dumps(text) for text in texts), "],", '"probes": {']
    lines.append(
        ",\n".join(
            f"{json.dumps(group)}: {json.dumps({name: number[text] for name, text in found.items()})}"
            for group, found in recording.outcomes.items()
        )
    )
    return "\n".join(["{", *lines, "}", "}", ""])


def _gpu() -> str | None:
    import torch

    try:
        return torch.cuda.get_device_name() if torch.cuda.is_available() else None
    except RuntimeError:
        return None


def main(arguments: list[str]) -> int:
    """Record, or be one of the recorder's workers."""
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("out", type=Path, nargs="?", help="a file, or a folder for <torch version>.json")
    reader.add_argument("--only", default="")
    reader.add_argument("--source", default="")
    reader.add_argument("--worker", nargs=2, help=argparse.SUPPRESS)
    options = reader.parse_args(arguments)
    if options.worker:
        work(options.worker[0], json.loads(Path(options.worker[1]).read_text(encoding="utf-8")), options.only)
        return 0
    if options.out is None:
        reader.error("say where to write")
    gpu = _gpu()
    if gpu is None:
        print("no GPU: PyTorch sees no CUDA device here, so there is nothing to record", file=sys.stderr)
        return 1
    import torch

    recording = record(options.only)
    out = options.out
    if out.suffix != ".json":
        out /= f"{torch.__version__.split('+')[0]}.json"
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(written(recording, options.source or gpu), encoding="utf-8")
    count = sum(len(group) for group in recording.outcomes.values())
    print(f"{count} probes of {len(recording.outcomes)} groups in {out}")
    if recording.missing:
        print(f"the operators did not run: {recording.missing}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
