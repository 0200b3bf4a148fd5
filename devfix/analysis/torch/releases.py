"""Releases of PyTorch that a project declares, and what depends on them."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from devfix.analysis.program import Program

__all__ = ["leaves_step_behind", "oldest_release"]

# Files of a project that name what it needs
_REQUIREMENTS = ("requirements.txt", "pyproject.toml", "setup.py", "setup.cfg", "environment.yml", "environment.yaml")
_TORCH = re.compile(
    r"""(?:^[\s\-]*["']?|["'])(?:py)?torch\s*(?:==|~=|>=|=)\s*["']?[\^~>=]*(\d+)\.(\d+)""", re.MULTILINE
)

# Fused optimizers restore `step` since 2.1.  A project that declares just this release may still be used with an
# older one: https://github.com/FoundationVision/VAR/issues/127 was reported in spite of `torch~=2.1.0`.
_RESTORES_STEP = (2, 2)


def oldest_release(program: Program) -> tuple[int, int] | None:
    """Return the oldest release of PyTorch that a project accepts: ``(2, 1)``; ``None`` if it declares none."""
    for root in program.roots:
        for name in _REQUIREMENTS:
            text = program.text(os.path.join(root, name)) if program.has(root, name) else None
            if text is not None and (found := _TORCH.search(text)):
                return int(found[1]), int(found[2])
    return None


def leaves_step_behind(program: Program) -> bool:
    """Return whether a fused optimizer may leave its ``step`` where it was loaded, by the release that is declared.

    https://github.com/pytorch/pytorch/issues/103256
    """
    oldest = oldest_release(program)
    return oldest is not None and oldest < _RESTORES_STEP
