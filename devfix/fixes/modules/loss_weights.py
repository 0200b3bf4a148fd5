"""Class weights that a functional loss is given: ``F.cross_entropy(logits, labels, weight=weights)``."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from devfix.analysis import Facts
from devfix.analysis.domain.location import Level
from devfix.analysis.observations import Meeting, Operand
from devfix.fixes.device_expression import binds
from devfix.fixes.event_path import story
from devfix.fixes.insertion_point import inside_module
from devfix.fixes.module_move_style import words_at
from devfix.model import AppendCode, Finding, Remedy, Severity
from devfix.syntax.tree import SourceTree

__all__ = ["given_as_weight", "loss_weights"]

_KEYWORDS = ("weight", "pos_weight")


def given_as_weight(facts: Facts, key: int) -> bool:
    """Whether all that a made tensor does on the accelerator is to weigh the classes of a functional loss."""
    met = [
        (meeting, operand)
        for meeting in facts.meetings
        for operand in meeting.cpu
        if any(birth.kind == "made" and birth.key == key for birth in operand.births)
    ]
    return bool(met) and all(_weight(meeting, operand) is not None for meeting, operand in met)


def _weight(meeting: Meeting, operand: Operand) -> ast.expr | None:
    """The argument that gives an operand to a loss as its weights."""
    call = meeting.site.node
    if not isinstance(call, ast.Call) or not any(word in meeting.consumer for word in ("entropy", "nll_loss")):
        return None
    for keyword in call.keywords:
        if keyword.arg in _KEYWORDS and ast.unparse(keyword.value) == operand.text:
            return keyword.value
    return None


def loss_weights(facts: Facts, code: str, name: str) -> Iterator[Finding]:
    """One finding per tensor of weights that a functional loss gets on the CPU."""
    seen: set[int] = set()
    for meeting in facts.meetings:
        for operand in meeting.cpu:
            argument = _weight(meeting, operand)
            if argument is None or len(operand.births) != 1 or operand.births[0].kind != "made":
                continue
            if operand.births[0].holder:
                continue  # an attribute keeps them: DEV202 speaks
            key = operand.births[0].key
            if key in seen or not given_as_weight(facts, key):
                continue
            seen.add(key)
            site = facts.sources[key].site
            remedies = tuple(_remedies(facts, meeting, argument))
            yield Finding(
                code,
                name,
                Severity.LATENT if meeting.latent else Severity.ERROR,
                site.tree.path,
                site.span,
                f"the class weights `{operand.text}` stay on the CPU while the loss is computed on the accelerator",
                story(
                    (site, "created", "the weights are made on the CPU"),
                    (meeting.site, "used", "the loss needs them here"),
                ),
                remedies,
                "" if remedies else "no device has a name where the weights are given to the loss",
            )


def _remedies(facts: Facts, meeting: Meeting, argument: ast.expr) -> Iterator[Remedy]:
    """Where the name gets its value, if the device is at hand there; else at the call."""
    site, call = meeting.site, meeting.site.node
    assert isinstance(call, ast.Call)
    text = ast.unparse(argument)
    for level in reversed(site.levels):
        value = _assigned(level, text)
        trailer = _trailer(facts, meeting, level) if value is not None and not inside_module(level) else None
        if value is not None and trailer is not None:
            yield Remedy(f"move `{text}`", (AppendCode(level.tree.path, level.tree.span(value), trailer),))
    first = call.args[0] if call.args else None
    beside = f".to({ast.unparse(first)}.device)" if isinstance(first, (ast.Name, ast.Attribute)) else None
    trailer = beside if inside_module(site.level) else _trailer(facts, meeting, site.level) or beside
    if trailer is not None:
        yield Remedy(f"move `{text}` at the loss", (AppendCode(site.tree.path, site.tree.span(argument), trailer),))


def _trailer(facts: Facts, meeting: Meeting, level: Level) -> str | None:
    words = words_at(facts, meeting, level)
    return words.trailer if words is not None and words.plain else None


def _assigned(level: Level, text: str) -> ast.expr | None:
    """The value of the one assignment that gives a name its value, in this function."""
    found = [
        node
        for node in ast.walk(level.frame.node)
        if isinstance(node, ast.Assign) and any(ast.unparse(target) == text for target in node.targets)
    ]
    if len(found) != 1 or not text.isidentifier() or not binds(found[0], text):
        return None
    return found[0].value if _only_a_weight(level.tree, level.frame.node, text, found[0]) else None


def _only_a_weight(tree: SourceTree, function: ast.AST, text: str, made: ast.Assign) -> bool:
    """Whether a name is read as the weight of a loss only: elsewhere its values may be needed on the CPU."""
    reads = [
        node
        for node in ast.walk(function)
        if isinstance(node, ast.Name) and node.id == text and isinstance(node.ctx, ast.Load)
    ]
    return all(
        isinstance(parent := tree.parents.get(node), ast.keyword) and parent.arg in _KEYWORDS for node in reads
    ) and bool(made.value)
