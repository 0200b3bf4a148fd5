"""Python source as syntax: trees, positions, name bindings, in-place writes, large data literals.

In: a file's path and text.  Out: :class:`devfix.syntax.tree.SourceTree` and functions of trees and nodes; no value or
device is inferred here.  May import :mod:`devfix.model` and the standard library, nothing else of the project.
"""
