"""PyTorch's words for a refusal where its releases differ, as the installed one says them."""

from __future__ import annotations

import re

import torch

__all__ = ["RELEASE", "elsewhere"]

#: The installed release: major and minor number.
RELEASE = tuple(int(part) for part in re.findall(r"\d+", torch.__version__)[:2])


def elsewhere(argument: str, device: str, others: str, method: str = "") -> str:
    """What an operator's wrapper says when ``argument`` is on ``device`` and an earlier one on ``others``.

    ``method`` is the wrapper's name; without it, the text ends before that.  Reworded in 2.8 by
    https://github.com/pytorch/pytorch/pull/150750; recorded in tests/data.
    """
    before = f"found at least two devices, {others} and {device}! (when checking argument for argument {argument} in "
    since = f"got {argument} is on {device}, different from other tensors on {others} (when checking argument in "
    words = since if RELEASE >= (2, 8) else before
    return f"{words}method {method})" if method else f"{words}method "
