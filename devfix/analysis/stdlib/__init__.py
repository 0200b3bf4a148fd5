"""Transfer functions for Python's standard library and NumPy: built-ins, containers, introspection, argparse.

Input: calls of built-in and library functions, and methods of containers.  Output: abstract values.

May import :mod:`devfix.analysis.domain`, lower modules of :mod:`devfix.analysis.torch` and
:mod:`devfix.analysis.transfer`, and the observation modules of :mod:`devfix.analysis`.
"""
