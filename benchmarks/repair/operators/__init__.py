"""The mutation operators: ways in which people make device bugs, each undone by one edit.

A mutant counts only when running it shows the bug, so an operator may be generous: what does no harm is kept as a
control, which devfix must leave alone.  Source of the list: fault studies of deep learning have no device operators;
these are the shapes of real incidents.
"""

from benchmarks.repair.operators import hosts, modules, moves, tensors

__all__ = ["OPERATORS"]

OPERATORS = (*moves.OPERATORS, *tensors.OPERATORS, *modules.OPERATORS, *hosts.OPERATORS)
