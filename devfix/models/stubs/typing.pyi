"""Types."""

from collections import namedtuple as NamedTuple
