"""What ``devfix init`` adds to a repository: configuration, a hook, a workflow.

Nothing that is there is changed: a file is new, or gets lines, and what it said before it says after.
"""

from devfix.init._steps import Addition, Part, Present, Refused
from devfix.init.configuration import configuration
from devfix.init.detect import Wanted, fitting
from devfix.init.hook import hook
from devfix.init.workflow import HOSTS, workflow

__all__ = ["HOSTS", "Addition", "Part", "Present", "Refused", "Wanted", "configuration", "fitting", "hook", "workflow"]
