"""Fixes for tensors: batch items, created tensors and containers of tensors that stay on the CPU.

In: `Observations` of the analysis and the misplaced items or creations that a rule reports. Out: `Fix` objects or
edits, best first; nothing if no device expression is in scope. The package may import `devfix.model`, `devfix.syntax`,
`devfix.models`, `devfix.analysis` and other modules of `devfix.fixes`.
"""
