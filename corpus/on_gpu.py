"""On a machine with a GPU: the tests that need one, and the verdicts of the corpus; writes docs/development/verification.md.

    python3 corpus/on_gpu.py         # what `nox -s cuda` runs; needs torch, numpy and pytest, and no network

Nothing is installed: a machine with a GPU has a torch that suits it.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
sys.path.insert(0, str(HERE))

import verdicts  # noqa: E402  # found by the line above

TABLE = ROOT / "docs" / "development" / "verification.md"


def marked() -> list[str]:
    """Files with tests that need a GPU; others may import what is not installed here."""
    files = sorted((ROOT / "tests").rglob("test_*.py"))
    return [str(path.relative_to(ROOT)) for path in files if "mark.cuda" in path.read_text(encoding="utf-8")]


def tested(extra: list[str]) -> int:
    """Run the tests that need a GPU; pytest's exit code."""
    paths = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    command = [sys.executable, "-m", "pytest", "-m", "cuda", *marked(), *extra]
    return subprocess.run(command, cwd=ROOT, env={**os.environ, "PYTHONPATH": paths}, check=False).returncode


def main(extra: list[str]) -> int:
    """Do it all, also where a part fails; 1 if one did, 2 if there is no GPU."""
    device = verdicts.gpu()
    if device is None:
        print(f"no CUDA device: {sys.executable} has no torch that sees one", file=sys.stderr)
        return 2
    print(f"on {device}", flush=True)
    tests = tested(extra)
    proofs = verdicts.main(["--device", "cuda", "--table", str(TABLE)])
    return 1 if tests or proofs else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
