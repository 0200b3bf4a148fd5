"""Fixes for device expressions: hard-coded, derived and per-process devices that conflict with the program's choice.

In: `Observations` of the analysis, including its scenarios without an accelerator and with two. Out: the conflicting
calls, and the edits that replace their device. The package may import `devfix.model`, `devfix.syntax`, `devfix.models`,
`devfix.analysis` and other modules of `devfix.fixes`.
"""
