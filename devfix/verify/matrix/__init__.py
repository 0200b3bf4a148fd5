"""The runs of a script on several machines, before and after a patch.

Input: an :class:`devfix.verify.experiment.Experiment`, a patch and machines.  Output: a :class:`Matrix`, a row for each
machine.
"""

from devfix.verify.matrix.machines import KINDS, Machine, UnknownMachine, parse_machines
from devfix.verify.matrix.rows import Matrix, Row, run_matrix

__all__ = ["KINDS", "Machine", "Matrix", "Row", "UnknownMachine", "parse_machines", "run_matrix"]
