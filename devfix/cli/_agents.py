"""Coding agents by their environment variables, and the default report format in their shells."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path

__all__ = ["AGENT", "VARIABLE", "agent_note", "default_format", "detected_agent"]

#: The report format for agents.
AGENT = "agent"

#: 0 turns the detection off; any other value chooses the format for agents.
VARIABLE = "DEVFIX_AGENT"
_TABLE = Path(__file__).with_name("agents.json")


def detected_agent(environment: Mapping[str, str] = os.environ) -> str:
    """Return ``NAME (VARIABLE is set)`` for the agent whose shell this is; empty if there is none.

    ``agents.json`` beside this module is the table of variables, each with its source.
    """
    forced = environment.get(VARIABLE)
    if forced:
        return "" if forced == "0" else f"{VARIABLE} is set"
    for agent in json.loads(_TABLE.read_text(encoding="utf-8"))["agents"]:
        for name in agent["variables"]:
            if environment.get(name):
                return f"{agent['name']}: {name} is set"
    return ""


def default_format(otherwise: str = "text") -> Callable[[], str]:
    """Return the default of ``--output-format``: ``agent`` in the shell of an agent."""
    return lambda: AGENT if detected_agent() else otherwise


def agent_note() -> str:
    """Return the sentence of ``--help`` on the format for agents, with the reason if it is the default now."""
    found = detected_agent()
    if not found:
        return "In the shell of a coding agent, the default report format is agent; DEVFIX_AGENT=0 turns this off."
    return f"The default report format is agent ({found}); DEVFIX_AGENT=0 turns this off."
