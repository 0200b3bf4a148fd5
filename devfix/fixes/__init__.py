"""Planning of fixes, for rules and for trace: device expressions, insertion points, moves, registration, reordering.

In: observations and program points, or a syntax tree alone.  Out: edits and fixes of :mod:`devfix.model`.

May import :mod:`devfix.model`, :mod:`devfix.syntax`, :mod:`devfix.models` and :mod:`devfix.analysis`.
"""
