"""Run the pip steps of a Dockerfile target in a new environment, then the command as a user does.

Docker itself is not needed. The system packages, the user and the entry point of the image are not tested.

    python packaging/try_image.py slim
    python packaging/try_image.py verify --index-url URL   # of PyTorch for the CPU, instead of the one that is named
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).parents[1]
BROKEN = ROOT / "corpus" / "seeds" / "llms_from_scratch" / "broken"


def pip_steps(dockerfile: str, target: str) -> list[str]:
    """Return the shell commands of a target and of its base stages that call pip, in order."""
    stages: dict[str, tuple[str, list[str]]] = {}
    name = ""
    for line in re.sub(r"\\\n(?:\s*#.*\n)*", " ", re.sub(r"(?m)^#.*\n", "", dockerfile)).splitlines():
        keyword, _, rest = line.partition(" ")
        if keyword == "FROM":
            base, _, name = rest.partition(" AS ")
            stages[name] = (base, [])
        elif keyword == "RUN" and "pip install" in rest:
            stages[name][1].append(rest)
    base, steps = stages[target]
    return [*(pip_steps(dockerfile, base) if base in stages else []), *steps]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target")
    parser.add_argument("--index-url", default="")
    arguments = parser.parse_args()
    steps = pip_steps((ROOT / "Dockerfile").read_text(encoding="utf-8"), arguments.target)
    with tempfile.TemporaryDirectory() as folder:
        context, environment = Path(folder, "context"), Path(folder, "environment")
        context.mkdir()
        build = [sys.executable, "-m", "build", "--wheel", "--outdir", str(context)]
        subprocess.run(build, cwd=ROOT, check=True)
        shutil.copy(ROOT / "constraints.txt", context)
        venv.create(environment, with_pip=True)
        for step in steps:
            command = step.replace("/tmp/devfix", str(context)).replace("pip install", f"{environment}/bin/pip install")
            if arguments.index_url:
                command = re.sub(r"--index-url \S+", f"--index-url {arguments.index_url}", command)
            subprocess.run(["/bin/sh", "-euc", command], cwd=folder, check=True)
        devfix = str(environment / "bin" / "devfix")
        subprocess.run([devfix, "--version"], cwd=folder, check=True)
        found = subprocess.run([devfix, "check", str(BROKEN)], cwd=folder, stdout=subprocess.DEVNULL, check=False)
        if found.returncode != 1:
            raise SystemExit(f"devfix check ended with {found.returncode}, not 1")
        if arguments.target == "verify":
            program = Path(folder, "right.py")
            program.write_text("import torch\nprint(torch.ones(2).sum())\n", encoding="utf-8")
            subprocess.run([devfix, "verify", str(program)], cwd=folder, check=True)


if __name__ == "__main__":
    main()
