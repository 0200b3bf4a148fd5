"""What ``devfix init`` adds to a repository: configuration, a hook, a workflow.

Nothing that is there is changed: a file is new, or gets lines, and what it said before it says after.
"""

from devfix.adoption._parts import Addition, Part, Present, Refused
from devfix.adoption.configuration import configuration
from devfix.adoption.fitting import Wanted, fitting
from devfix.adoption.hook import hook
from devfix.adoption.workflow import HOSTS, workflow

__all__ = ["HOSTS", "Addition", "Part", "Present", "Refused", "Wanted", "configuration", "fitting", "hook", "workflow"]
