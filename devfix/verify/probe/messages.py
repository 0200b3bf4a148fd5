"""Recognition of device errors by their message; ``messages.json`` beside this module is the table of wordings.

The probe reads the table in the interpreter of the script, so it is JSON, which every Python reads.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Collection, Mapping, Optional

__all__ = ["FAMILIES", "MISMATCH", "MessageFamily", "Wording", "device_family"]

#: The family of messages about operands on different devices.
MISMATCH = "same-device"


@dataclass(frozen=True)
class Wording:
    """A message as it is printed.

    Attributes:
        text: the message.
        versions: the versions of PyTorch, or of the package in ``origin``, that print it.
        origin: the operators, the back end or the package that it comes from.
        source: a public thread with this text; empty if none is known.

    """

    text: str
    versions: str
    origin: str
    source: str = ""


@dataclass(frozen=True)
class MessageFamily:
    """Messages with the same meaning.

    Attributes:
        name: its name.
        page: the name of the page of the documentation about it; of families that share one, the last is the main one.
        title: the message for headings.
        patterns: a message of the family matches one of them.
        meaning: what the messages mean, as a clause.
        cause: the cause of a failed run that ended in the message, without known operands.
        causes: the usual causes, the most frequent first, as sentences.
        wordings: examples.
        like: the family whose findings end in these messages as well; empty if there is none.

    """

    name: str
    page: str
    title: str
    patterns: tuple[re.Pattern[str], ...]
    meaning: str
    cause: str
    causes: tuple[str, ...]
    wordings: tuple[Wording, ...]
    like: str = ""

    def is_end_of(self, error_families: Collection[str]) -> bool:
        """Return whether findings of a rule that ends in ``error_families`` can end in this family."""
        return not {self.name, self.like}.isdisjoint(error_families)

    def matches(self, text: str) -> bool:
        """Return whether a text has a message of this family.

        A mismatch of dtypes (``float`` and ``half``), or of tensor types on the same device, is not a device error.
        """
        for pattern in self.patterns:
            found = pattern.search(text)
            if found is None:
                continue
            types = found.groupdict()
            if "one" not in types or not _is_same_device(types["one"], types["other"]):
                return True
        return False


#: Each message has one of these words, in lower case; most lines of a log have none.
_WORDS = tuple(
    "device cuda cpu gpu mps xpu npu tensor torch nccl nvidia fp64 capturable 4-bit 8-bit forked accelerator "
    "dummy".split()
)

_ON_ACCELERATOR = re.compile(r"torch\.(cuda|xpu|npu|mps|hip)\.|MPS")


def device_family(text: str) -> Optional[str]:
    """Return the family of a device error's message; None if it is not a device error."""
    lowered = text.lower()
    if not any(word in lowered for word in _WORDS):
        return None
    return next((family.name for family in FAMILIES.values() if family.matches(text)), None)


def _is_same_device(first: str, second: str) -> bool:
    """Whether two tensor types, such as ``torch.cuda.FloatTensor``, are both on an accelerator or both on the CPU."""
    return (_ON_ACCELERATOR.search(first) is None) == (_ON_ACCELERATOR.search(second) is None)


def _read() -> dict[str, MessageFamily]:
    table = json.loads((Path(__file__).parent / "messages.json").read_text(encoding="utf-8"))
    return {entry["name"]: _family(entry) for entry in table["families"]}


def _family(entry: dict[str, Any]) -> MessageFamily:
    return MessageFamily(
        **{
            **entry,
            "patterns": tuple(re.compile(pattern) for pattern in entry["patterns"]),
            "causes": tuple(entry["causes"]),
            "wordings": tuple(Wording(**wording) for wording in entry["wordings"]),
        }
    )


#: All families by name; the first that matches determines the family of a message.
FAMILIES: Mapping[str, MessageFamily] = _read()
