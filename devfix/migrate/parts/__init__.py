"""Patches in parts, one for each set of owners of the code."""

from __future__ import annotations
