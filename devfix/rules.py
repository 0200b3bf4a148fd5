"""What a rule of your own is made of: everything that it imports is here.

``docs/own-rules.md`` shows one.  What is not listed here may change in any release; what is listed, only in a minor
one, with a word in the changelog.
"""

from codemods import Example, Rule
from devfix.flow import Facts
from devfix.flow.sites import Site
from devfix.flow.syntax import SourceTree
from devfix.flow.values import ACCELERATOR, CPU, Place
from devfix.model import (
    AddKeyword,
    AppendCode,
    Edit,
    Event,
    Finding,
    InsertStatement,
    MoveStatements,
    Remedy,
    ReplaceExpression,
    ReplaceStatement,
    Safety,
    Severity,
    Span,
    Where,
)

__all__ = [
    "ACCELERATOR",
    "CPU",
    "AddKeyword",
    "AppendCode",
    "Edit",
    "Event",
    "Example",
    "Facts",
    "Finding",
    "InsertStatement",
    "MoveStatements",
    "Place",
    "Remedy",
    "ReplaceExpression",
    "ReplaceStatement",
    "Rule",
    "Safety",
    "Severity",
    "Site",
    "SourceTree",
    "Span",
    "Where",
]
