"""Releases of PyTorch that a project declares, and what depends on them."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from devfix.analysis.program import Program

__all__ = ["leaves_step_behind", "named_release", "oldest_release"]

# Files of a project that name what it needs
_REQUIREMENTS = ("requirements.txt", "pyproject.toml", "setup.py", "setup.cfg", "environment.yml", "environment.yaml")
_TORCH = re.compile(
    r"""(?:^[ \t\-]*["']?|["'])(?:py)?torch(?:\[[\w,-]+\])?\s*(?:==|~=|>=|=)\s*["']?[\^~>=]*(\d+)\.(\d+)""",
    re.MULTILINE,
)

_DOCUMENTS = ("README.md", "README.rst", "readme.md", "README.txt", "README")
# Of a text: PyTorch 1.9.0, Pytorch-0.3, pytorch (>= 1.9), PyTorch - tested with v0.3.0, a PyTorch install version 0.1.8
_LINK = r"(?:\]\([^\s)]*\))?"
_VERB = r"[^\w\n]{1,8}(?:[Ww]e )?(?:(?:tested|works) (?:with|on)|install|requires?|using)[^\n\w|]{1,3}"
_NAMED = re.compile(
    rf"(?<![\w./-])(?:py)?torch{_LINK}(?![a-z_]|\dd)(?:[^\n\w|]{{0,12}}|{_VERB})(?:version:?\s*)?"
    r"v?([0-2])\.(\d{1,2})(?![\d%]|\s?(?:x|ms|s|gb|mb|m|k)\b)",
    re.IGNORECASE,
)

_MINORS = {0: range(1, 5), 1: range(14), 2: range(100)}  # the releases that exist: there was no PyTorch 0.5

# Images of NVIDIA, ``nvcr.io/nvidia/pytorch:20.06-py3``: from each year and month on, the release of PyTorch in them.
# https://docs.nvidia.com/deeplearning/frameworks/support-matrix/index.html
_IMAGE = re.compile(r"nvcr\.io/nvidia/pytorch:(\d\d)\.(\d\d)")
_IMAGES = {
    (18, 1): (0, 3),
    (18, 6): (0, 4),
    (18, 10): (1, 0),
    (19, 7): (1, 2),
    (19, 11): (1, 4),
    (20, 3): (1, 5),
    (20, 6): (1, 6),
    (20, 8): (1, 7),
    (20, 12): (1, 8),
    (21, 6): (1, 9),
    (21, 7): (1, 10),
    (21, 12): (1, 11),
    (22, 6): (1, 12),
    (22, 9): (1, 13),
    (23, 3): (2, 0),
    (23, 6): (2, 1),
    (23, 11): (2, 2),
    (24, 2): (2, 3),
    (24, 5): (2, 4),
}

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


def named_release(program: Program) -> tuple[int, int] | None:
    """Return the release of PyTorch that a project declares, or else the first that its README names: "PyTorch 1.9.0".

    A README may also name an image of NVIDIA with a release.  A port must not use names that came after it.
    """
    declared = oldest_release(program)
    if declared is not None:
        return declared
    for root in program.roots:
        for name in _DOCUMENTS:
            text = program.text(os.path.join(root, name)) if program.has(root, name) else None
            for found in _NAMED.finditer(text or ""):
                release = int(found[1]), int(found[2])
                if release[1] in _MINORS[release[0]]:
                    return release
            if text is not None and (image := _IMAGE.search(text)):
                month = int(image[1]), int(image[2])
                return next((_IMAGES[each] for each in sorted(_IMAGES, reverse=True) if each <= month), None)
    return None


def leaves_step_behind(program: Program) -> bool:
    """Return whether a fused optimizer may leave its ``step`` where it was loaded, by the release that is declared.

    https://github.com/pytorch/pytorch/issues/103256
    """
    oldest = oldest_release(program)
    return oldest is not None and oldest < _RESTORES_STEP
