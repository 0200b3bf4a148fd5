"""The hook in ``.pre-commit-config.yaml``."""

from __future__ import annotations

import os

from devfix import __version__
from devfix.adoption._parts import Addition, Part, Present, Refused, read

__all__ = ["hook"]

_HOOKS = ("devfix", "devfix-fix")
_ITEM = f"""\
- repo: local
  hooks:
    - id: devfix
      name: devfix
      entry: devfix check
      language: python
      additional_dependencies: ["devfix=={__version__}"]
      types_or: [python, pyi]
      require_serial: true
"""


def hook(root: str) -> Part:
    """One more repository in its list; a new file where there is none."""
    from devfix.adoption._yaml import CannotExtend, NotYaml, extended, values

    path = os.path.join(root, ".pre-commit-config.yaml")
    try:
        old = read(path)
        there = [name for name in _HOOKS if name in values(old or b"", "id")]
        if there:
            return Present(path, f"the hook {there[0]}")
        return Addition(path, old, extended(old or b"", "repos", _ITEM))
    except OSError as error:
        return Refused(path, f"cannot be read: {error.strerror or error}")
    except NotYaml as error:
        return Refused(path, f"is no YAML: {error}")
    except CannotExtend as error:
        return Refused(path, str(error), _ITEM)
