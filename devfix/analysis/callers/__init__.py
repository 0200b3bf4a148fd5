"""Callers of library code: what a function that no program calls is called with, by syntax alone.

In: a function, its class and its :class:`devfix.syntax.tree.SourceTree`.  Out: the kind of each argument
(:func:`devfix.analysis.callers.kinds.argument_kinds`) and the role of the function
(:func:`devfix.analysis.callers.roles.role`).  Each kind of evidence has a module: annotations, checks, docstrings,
defaults, uses.

May import :mod:`devfix.models`, :mod:`devfix.syntax` and the standard library.
"""
