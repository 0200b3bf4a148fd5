"""Callers of library code: functions that no program calls are called as any caller with an accelerator would.

What a function is called with is found by syntax alone: the kind of each argument (``kinds.py``, with a module for each
kind of evidence: annotations, checks, docstrings, defaults, uses), the role of the function (``roles.py``), and whether
it can make a difference between devices at all (``facts``).  In: a function, its class and its
:class:`devfix.syntax.tree.SourceTree`.  These modules may import :mod:`devfix.models`, :mod:`devfix.syntax` and the
standard library.

``any_caller.py`` and ``assumed_arguments.py`` call the functions on abstract values; they may import the interpreter
and everything below it.
"""
