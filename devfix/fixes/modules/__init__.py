"""Fixes for modules and their attributes: move, register, restore, or move at the use.

In: `Observations` of the analysis, with the mismatch, attribute or module that a rule reports. Out: `Fix` objects or
edits, best first; a text with the reason if there is none. The package may import `devfix.model`, `devfix.syntax`,
`devfix.models`, `devfix.analysis` and other modules of `devfix.fixes`.
"""
