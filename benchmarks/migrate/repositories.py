"""Git repositories built from corpus programs, and malformed ones."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

__all__ = ["EXPECTED", "generate"]

CORPUS = Path(__file__).resolve().parents[2] / "corpus"
POISONED = 0.05  # but each kind once
_LARGE = 1 << 20  # bytes

#: Kind of malformed repository → its required outcome, and a word of the reason.
EXPECTED = {
    "syntax": ("not-fixed", "train.py"),
    "old": ("not-fixed", "old.py"),
    "binary": ("not-fixed", "train.py"),
    "huge": ("clean", ""),
    "loop": ("clean", ""),
    "submodule": ("clean", ""),
    "empty": ("clean", ""),
    "unborn": ("failed", "no commit"),
    "detached": ("clean", ""),
    "config": ("failed", "unknown key"),
    "hangs": ("not-fixed", "the verdict is"),
}


def generate(folder: Path, number: int, broken: float = 0.25, seed: int = 0) -> dict[str, str]:
    """Make repositories below ``folder``; returns the kind of each by its name (``program``, ``bug``, or a poison).

    Args:
        folder: receives them.
        number: how many.
        broken: the share of programs with a bug.
        seed: decides which programs.

    """
    draw = random.Random(seed)
    kinds = {}
    poisons = [list(EXPECTED)[index % len(EXPECTED)] for index in range(max(round(number * POISONED), len(EXPECTED)))]
    good = [(kind, path) for kind, path in _programs(draw, number - len(poisons), broken)]
    for index, (kind, program) in enumerate(good):
        name = f"r{index:04}-{program.parent.name}"
        shutil.copytree(program, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        commit(folder / name)
        kinds[name] = kind
    for index, poison in enumerate(poisons):
        name = f"p{index:04}-{poison}"
        (folder / name).mkdir(parents=True)
        _POISONS[poison](folder / name)
        kinds[name] = poison
    return kinds


def _programs(draw: random.Random, number: int, broken: float) -> list[tuple[str, Path]]:
    cases = sorted(path.parent for path in CORPUS.glob("*/*/case.toml") if path.parts[-3] not in ("trace", "incidents"))
    bugs = [("bug", case / "broken") for case in cases if (case / "broken").is_dir()]
    fine = [("program", case / name) for case in cases for name in ("clean", "fixed") if (case / name).is_dir()]
    many = round(number * broken)
    found = [*draw.choices(bugs, k=many), *draw.choices(fine, k=number - many)]
    draw.shuffle(found)
    return found


def git(folder: Path, *arguments: str) -> str:
    """Run git with a neutral identity."""
    environment = {
        **os.environ,
        **{f"GIT_{who}_{what}": "nobody" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
        "GIT_AUTHOR_DATE": "2026-01-02T03:04:05Z",
        "GIT_COMMITTER_DATE": "2026-01-02T03:04:05Z",
        "GIT_CONFIG_GLOBAL": os.devnull,
    }
    command = ["git", "-c", "init.defaultBranch=main", "-c", "protocol.file.allow=always", *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=True).stdout


def commit(folder: Path) -> None:
    """Commit all files of a folder to a new repository."""
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "--allow-empty", "-m", "work")


# --- poison ---------------------------------------------------------------------------------------------------------
def _syntax(folder: Path) -> None:
    (folder / "train.py").write_text("import torch\nprint 'Python 2'\n")
    commit(folder)


def _old(folder: Path) -> None:
    """Return a file that cannot be parsed and does not mention torch."""
    (folder / "old.py").write_text("print 'Python 2'\n")
    commit(folder)


def _binary(folder: Path) -> None:
    (folder / "train.py").write_bytes(b"torch.cuda\0" + bytes(range(256)) * 1000)
    commit(folder)


def _huge(folder: Path) -> None:
    """Return a generated data file that must be read because it mentions torch."""
    line = "TABLE.append(torch.tensor([0.125, 0.25, 0.5]))\n"
    (folder / "table.py").write_text("import torch\nTABLE = []\n" + line * (_LARGE // len(line)))
    commit(folder)


def _loop(folder: Path) -> None:
    (folder / "package").mkdir()
    (folder / "package" / "again").symlink_to("..")
    (folder / "a.py").symlink_to("b.py")
    (folder / "b.py").symlink_to("a.py")
    (folder / "train.py").write_text("import torch\nprint(torch.zeros(3))\n")
    commit(folder)


def _submodule(folder: Path) -> None:
    git(folder, "init", "-q")
    (folder / ".gitmodules").write_text('[submodule "lib"]\n\tpath = lib\n\turl = ../nowhere.git\n')
    (folder / "train.py").write_text("import torch\nimport lib.model\nlib.model.Net().cuda()\n")
    git(folder, "update-index", "--add", "--cacheinfo", f"160000,{'12' * 20},lib")
    git(folder, "add", ".gitmodules", "train.py")
    git(folder, "commit", "-q", "-m", "work")


def _unborn(folder: Path) -> None:
    git(folder, "init", "-q")


def _detached(folder: Path) -> None:
    (folder / "train.py").write_text("import torch\nprint(torch.zeros(3))\n")
    commit(folder)
    git(folder, "checkout", "-q", "--detach")
    git(folder, "commit", "-q", "--allow-empty", "-m", "on no branch")
    git(folder, "branch", "-q", "-D", "main")


def _config(folder: Path) -> None:
    (folder / "pyproject.toml").write_text("[tool.devfix]\nselekt = []\n")
    (folder / "train.py").write_text("import torch\n")
    commit(folder)


def _hangs(folder: Path) -> None:
    case = CORPUS / "seeds" / "pytorch_tutorials" / "broken"
    source = case if case.is_dir() else next(CORPUS.glob("batch_not_moved/*/broken"))
    shutil.copytree(source, folder, dirs_exist_ok=True)
    script = next(iter(sorted(folder.glob("*.py"))))
    (folder / "hangs.py").write_text(f"import time\nimport {script.stem}\ntime.sleep(3600)\n")
    commit(folder)


_POISONS: dict[str, Callable[[Path], None]] = {
    "syntax": _syntax,
    "old": _old,
    "binary": _binary,
    "huge": _huge,
    "loop": _loop,
    "submodule": _submodule,
    "empty": commit,
    "unborn": _unborn,
    "detached": _detached,
    "config": _config,
    "hangs": _hangs,
}
