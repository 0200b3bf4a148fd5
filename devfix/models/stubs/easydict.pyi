"""Dictionaries with attributes."""

from types import SimpleNamespace as EasyDict
