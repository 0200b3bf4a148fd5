"""Compare ``devfix apply --trace`` with ``devfix apply`` on the broken programs: tracing never repairs less.

    python corpus/traced.py                   # all cases
    python corpus/traced.py order batch/step  # those whose path contains one of the words
    python corpus/traced.py --every 12        # one in twelve

Both commands repair a copy of each program. If they write different files, both results run on the simulated
accelerator. The result of tracing is less if it fails and the other does not, or if tracing writes nothing and ``apply``
writes something that runs. Prints one row for each program, and exits with 1 if one result is less.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from corpus import prove  # noqa: E402  # found by the line above

SECONDS = 900


def repaired(case: Path, meta: dict[str, Any], options: list[str], arguments: list[str], folder: Path) -> int:
    """Repair a copy of the broken program in ``folder`` and return the command's exit code."""
    shutil.copytree(case / "broken", folder)
    packages = prove.installed(case, meta).get("PYTHONPATH", "")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, (packages, str(HERE.parent))))}
    command = [sys.executable, "-m", "devfix", "apply", *options, *arguments]
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, check=False, timeout=SECONDS
    ).returncode


def files(folder: Path) -> dict[str, bytes]:
    """Return the contents of a program's files."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }


def compare(case: Path, meta: dict[str, Any]) -> str:
    """Return ``same``, ``more``, ``other`` or ``less``, with the outcomes of the two results if they differ."""
    run_options = [f"--setup={shlex.join(meta['setup'])}"] if "setup" in meta else []
    run_options += [f"--devices={meta['devices']}"] if meta.get("devices", 1) > 1 else []
    run_options += ["--torchrun"] if meta.get("torchrun") else []
    run_options += ["--device=cpu"] if meta.get("run_on") == "cpu" else [f"--device=sim:{meta['accelerator']}" if "accelerator" in meta else "--device=sim"]
    with tempfile.TemporaryDirectory(prefix="traced-") as parent:
        static, traced = Path(parent, "static"), Path(parent, "traced")
        repaired(case, meta, [], ["."], static)
        code = repaired(case, meta, ["--trace", *run_options], [meta["script"], "--", *meta["args"]], traced)
        before, one, other = files(case / "broken"), files(static), files(traced)
        if one == other:
            return "same" if one != before else "same: nothing"
        by_static, by_traced = (prove.run(folder, meta, "sim") for folder in (static, traced))
        if by_static.ok and not by_traced.ok:
            return f"less (exit code {code}): {by_traced.outcome[:100]}"
        if by_static.ok and other == before:
            return f"less (exit code {code}): nothing written"
        return "more" if by_traced.ok and not by_static.ok else "other"


def main(arguments: list[str]) -> int:
    """Compare the chosen cases; 1 if one result is less."""
    every = int(arguments.pop(arguments.index("--every") + 1)) if "--every" in arguments else 1
    words = [word for word in arguments if word != "--every"]
    found: dict[str, int] = {}
    cases = [path.parent for path in sorted(HERE.rglob("case.toml")) if (path.parent / "broken").is_dir()]
    for case in cases[::every]:
        if words and not any(word in str(case.relative_to(HERE)) for word in words):
            continue
        result = compare(case, tomllib.loads((case / "case.toml").read_text(encoding="utf-8")))
        print(f"{result:<16} {case.relative_to(HERE)}", flush=True)
        kind = result.split(" ")[0].rstrip(":")
        found[kind] = found.get(kind, 0) + 1
    print(", ".join(f"{number} {kind}" for kind, number in sorted(found.items())))
    return 1 if found.get("less") or not found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
