"""Git, unified diffs, and redaction of credentials.

Input: repositories, diffs as text, and :class:`devfix.model.Patch`.  Output: the output of git commands, unified diffs
as bytes, and diffs as files, hunks and highlighted lines.

May import :mod:`devfix.model` and :mod:`devfix.sources`.
"""
