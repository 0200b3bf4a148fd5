"""The words of texts that differ between runs or machines by nature: times, memory, devices, addresses and paths."""

from __future__ import annotations

import re
from typing import NamedTuple

from devfix.verify.sandbox.scratch import RUN_PREFIX

__all__ = [
    "ABSENT",
    "NUMBER",
    "VARYING",
    "Measurement",
    "is_failure",
    "is_memory_key",
    "is_moment",
    "is_number",
    "is_varying_key",
    "is_warning",
    "may_be_measured",
    "measurements",
    "mentions_device",
    "name_pattern",
    "neutral",
    "noisy_name_pattern",
]

NUMBER = r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?"

#: Characters of the longest line that is searched for pieces that differ by nature.
LONGEST = 4_000

#: Stands for a piece of text that differs by nature.
VARYING = "\ufffc"
ABSENT = ""

_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*"
_DAY = r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*"
_CLOCK = r"\d{1,3}:\d\d(?::\d\d)?(?:[.,]\d+)?"
_TIME_OF_DAY = r"\d\d[-:_.h]?\d\d(?:[-:_.m]?\d\d)?(?:[.,_]\d+)?"
_DATES = (
    r"(?<!\d)20\d\d(?:[-_.]\d{1,2}){2}[T _-]\d{1,2}(?:[-_]\d{1,2}){1,2}(?!\d)",  # without leading zeros
    rf"(?<!\d)\d{{4}}[-/_.]\d\d[-/_.]\d\d(?:[T _-]+{_TIME_OF_DAY}(?:Z|[+-]\d\d:?\d\d)?)?(?!\d)",
    r"(?<!\d)(?:19|20)\d{6}[-_T]?\d{6}(?:[._]\d{3,6}\b)?(?!\d)",
    r"(?<!\d)20\d\d[01]\d[0-3]\d(?!\d)(?:[-_]\d{4})?(?!\d)",
    rf"(?:{_DAY},?\s+)?\b{_MONTH}\s{{0,2}}\d{{1,2}},?[ _-]+(?:\d{{4}}[ _-]+)?\d\d[-:]\d\d(?:[-:]\d\d)?(?:\s+\d{{4}})?",
    rf"(?:{_DAY},?\s+)?\b\d{{1,2}}\s+{_MONTH}\s+\d{{4}}(?:\s+{_CLOCK})?",
    r"(?<![\d.])(?:1[5-9]|2\d)\d{8}(?:\.\d+|\d{3}|\d{6}|\d{9})?(?![\d.])",
)
_UUID = r"\b[0-9a-fA-F]{8}-?(?:[0-9a-fA-F]{4}-?){3}[0-9a-fA-F]{12}\b"

_UNITS = (
    r"(?:[kKMGT]i?[Bb](?:ytes?|/s)?|bytes|ms|[uµn]s|s|secs?|seconds?|mins?|minutes?|h|hrs?|hours?|fps|FPS"
    r"|(?:it|iter|iters|iterations|steps?|samples?|sample|images?|imgs?|im|examples?|batch|batches|tokens?|tok|seqs?|graphs?"
    r"|nodes?|edges?|epochs?)\s?/\s?(?:s|sec|second)|(?:s|ms|secs?|seconds?)\s?/\s?[A-Za-z]+)"
)
_LABELS = (
    r"(?:(?:[a-z]+[ _-])?times?|timestamp|elapsed|took|takes|eta|duration|latency|runtime|wall(?:clock)?|speed"
    r"|(?:finished|completed|done|ended|trained|ran) in"
    r"|throughput|fps|mem|memory|allocated|reserved|pid|port|rss|vram|[a-z]+ per sec(?:ond)?)"
)

#: A number of a line: after the word, or after the name of a file in a log: ``train.py:  12``, ``[train.py, 12]``.
_LINE_NUMBER = r"(\bline(?:no)?[ =:]+|\.(?:py|ipynb)[:,]? +)\d+(?![\w.])"

_LABELLED = rf"(?<![a-z])({_LABELS})(?![a-z])(?![ _-]?(?:steps?|stamps?|series)\b)([^\d,;|\n{VARYING}]{{0,24}}?)"

#: Substitutions in order: pattern, replacement, flags.
_SUBSTITUTIONS = tuple(
    (re.compile(pattern, flags), replacement)
    for pattern, replacement, flags in (
        (rf"(?:/[^\s'\":,;()]*)?/{RUN_PREFIX}\w{{8}}/(?:project|tmp|home)\b/?", ABSENT, 0),
        (r",?\s*\bdevice='?(?:cuda|cpu|mps|xpu|npu|meta)(?::\d+)?'?(?=[,)\]])", ABSENT, 0),
        (r"\bdevice\(type='(?:cuda|cpu|mps|xpu|npu|meta)'(?:, index=\d+)?\)", VARYING, 0),
        # a progress bar in front of a message, and the numbers of a finished one
        (r"\d+%\|[^|]*\|\s*(\d+/\d+) \[[^\],]*(?:,[^\],]*(?:s/[A-Za-z]+|[A-Za-z]+/s|\?))?", rf"\1 [{VARYING}", 0),
        (r"(?<![\w.])0x[0-9a-fA-F]{6,}", VARYING, 0),
        (_UUID, VARYING, 0),
        *((pattern, VARYING, 0) for pattern in _DATES),
        (rf"(?<![\w.:])(?:\d+ days?, )?{_CLOCK}(?![\w:])", VARYING, 0),
        (r'(File "[^"]*", line )\d+', rf"\1{VARYING}", 0),
        (r"(\.(?:py|ipynb)\"?:)\d+", rf"\1{VARYING}", 0),
        (_LINE_NUMBER, rf"\1{VARYING}", 0),
        (rf"(?<![\w.])(?:{NUMBER}\s?{_UNITS}\s?)+(?![\w(])", VARYING, 0),
        (
            rf"{_LABELLED}{NUMBER}(?![\w])(\s*\(\s*){NUMBER}(\s*\))",
            rf"\1\2{VARYING}\3{VARYING}\4",
            re.IGNORECASE,
        ),
        (rf"{_LABELLED}{NUMBER}(?![\w])", rf"\1\2{VARYING}", re.IGNORECASE),
        (
            r"\b(?:number of |num[ _]?|n_?)?(gpus?|accelerators?|devices?)(\w*\W{1,4})\d+\b(?!\.)",
            rf"\1\2{VARYING}",
            re.IGNORECASE,
        ),
        (r"\b(?:cuda|cpu|mps|xpu|npu|gpu)(?::\d+)?(?![\w])", VARYING, re.IGNORECASE),
    )
)

#: The substitutions of :data:`_SUBSTITUTIONS` that replace measurements: numbers with a unit or a label.
_MEASUREMENTS = tuple(
    pattern
    for pattern, _ in _SUBSTITUTIONS
    if pattern.pattern == _LINE_NUMBER or _UNITS in pattern.pattern or _LABELS in pattern.pattern
)

_MEMORY = re.compile(
    r"(?<![a-z])(?:mem|memory|vram|rss|allocated|reserved)(?![a-z])(?:[^a-z]|(?<![a-z])(?:usage|used|use|peak|max|total|free|"
    r"cached|allocated|reserved|available|gpu|cuda|cpu|is|of|in|at|[kmgt]i?b)(?![a-z]))*$",
    re.IGNORECASE,
)

#: Characters before the end of a measurement that are searched for its label.
_NEARBY = 80

#: A quick look: a line without any of these has nothing that differs by nature.
_MAY_VARY = re.compile(
    rf"/{RUN_PREFIX}|cuda|cpu|mps|xpu|npu|gpu|device|accelerator|0x|\d[:%-]|\d/|\d{{8}}|line|\.py|\.ipynb"
    r"|tim|elapsed|took|take|ed in|done in|ran in|eta|duration|latency|wall|speed|throughput|fps|mem"
    r"|alloc|reserved|pid|port|rss|vram|per sec"
    rf"|\d\s?(?:{_UNITS})\b|{_MONTH}",
    re.IGNORECASE,
)

_DEVICE_WORDS = re.compile(
    r"(?<![a-z])(?:cuda|cudnn|gpus?|cpu|mps|xpu|npu|devices?|accelerators?|nvidia|geforce|tesla|nccl|gloo|amp|autocast"
    r"|mixed[ _-]precision|memory|vram|allocated|pin[ _]memory|data[ _]?parallel|bf16|tf32|rank"
    r"|world[ _]size)(?![a-z])",
    re.IGNORECASE,
)
_FAILURE_WORDS = re.compile(
    r"error|exception|traceback|fail|skip|caught|cannot|can't|unable|invalid|expected all tensors|ignor|abort"
    r"|fallback|falling",
    re.IGNORECASE,
)
_WARNING = re.compile(r"\b\w*Warning:|^\s*warnings\.warn\(|^\[?W\d{4}\b|\bWARNING\b")


def neutral(line: str) -> str:
    """Return a line in which every piece that differs by nature is replaced; a very long line is data, and stays."""
    if len(line) > LONGEST or not _MAY_VARY.search(line):
        return line
    for pattern, replacement in _SUBSTITUTIONS:
        line = pattern.sub(replacement, line)
    return line


class Measurement(NamedTuple):
    """A piece of a line that :func:`neutral` replaces although it may be a result.

    Attributes:
        kind: ``time`` for times and speeds, ``memory`` for amounts of memory, ``line`` for numbers of lines.
        text: the number or numbers, with label and unit.

    """

    kind: str
    text: str


def measurements(line: str) -> tuple[Measurement, ...]:
    """Return the pieces of a line that can be measured, or computed."""
    found = []
    if len(line) <= LONGEST and _MAY_VARY.search(line):
        for pattern, replacement in _SUBSTITUTIONS:
            if pattern in _MEASUREMENTS:
                found += [
                    Measurement(_kind(pattern, line[: match.end()]), match[0]) for match in pattern.finditer(line)
                ]
            line = pattern.sub(replacement, line)
    return tuple(found)


def _kind(pattern: re.Pattern[str], line: str) -> str:
    """Return the kind of the measurement at the end of a line that a pattern found."""
    if pattern.pattern == _LINE_NUMBER:
        return "line"
    return "memory" if _is_memory(line) else "time"


def _is_memory(line: str) -> bool:
    """Whether the words between the last two numbers of a line name an amount of memory."""
    return _MEMORY.search(re.split(NUMBER, line[-_NEARBY:])[-2]) is not None


def may_be_measured(number: str) -> bool:
    """Whether two runs can measure the same time by chance: it has fewer than two digits that count."""
    return len(re.sub(r"[eE].*|\D", "", number).strip("0")) < 2


def mentions_device(text: str) -> bool:
    """Whether a text is about devices, or has the name of one."""
    return _DEVICE_WORDS.search(text) is not None


def is_failure(text: str) -> bool:
    """Whether a text tells of an error or of work that is left out."""
    return _FAILURE_WORDS.search(text) is not None


def is_warning(text: str) -> bool:
    """Whether a line is a warning: Python shows one per source line, whose number a patch shifts."""
    return _WARNING.search(text) is not None


_NUMBER = re.compile(NUMBER)

_LABEL = re.compile(
    rf"(?<![a-z])({_LABELS}|secs?|seconds?|minutes|hours|ms)(?![a-z])(?! (?:steps?|stamps?|series)\b)", re.IGNORECASE
)


def is_number(text: str) -> bool:
    """Whether a text is a number in decimal digits."""
    return _NUMBER.fullmatch(text) is not None


def is_varying_key(key: str) -> bool:
    """Whether the name of a value says that it is a time, a speed or an amount of memory."""
    return _LABEL.search(_last_name(key)) is not None


def is_memory_key(key: str) -> bool:
    """Whether the name of a value says that it is an amount of memory."""
    return _MEMORY.search(_last_name(key)) is not None


def _last_name(key: str) -> str:
    return re.split(r"[./:]", key)[-1].replace("_", " ")


def is_moment(number: float) -> bool:
    """Whether a number can be a moment of these years in seconds, milliseconds or nanoseconds since 1970."""
    return any(1.5e9 <= number / scale < 2.5e9 for scale in (1, 1e3, 1e6, 1e9))


_IDENTIFIERS = re.compile(
    "|".join(
        (
            *_DATES,
            _UUID,
            rf"{_MONTH}\d\d_\d\d-\d\d-\d\d",
            r"(?<!\d)\d\d[-_:]\d\d[-_:]\d\d(?!\d)",
            r"\btmp[a-z0-9_]{6,10}(?![a-z0-9])",
            r"(?<![0-9A-Za-z])(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{8,}(?![0-9A-Za-z])",
        )
    )
)


def name_pattern(name: str) -> str:
    """Return a file's name without times and random identifiers."""
    if "tfevents" in name:
        name = re.sub(r"(tfevents)\.[^/]*", rf"\1{VARYING}", name)
    return _IDENTIFIERS.sub(VARYING, name)


def noisy_name_pattern(name: str) -> str:
    """Return a file's name without anything that a run may have chosen: for names that two equal runs do not share."""
    return re.sub(r"[0-9]+", "#", name_pattern(name))
