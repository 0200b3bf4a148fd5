"""The hook in ``.pre-commit-config.yaml``."""

from __future__ import annotations

import os

from devfix import __version__
from devfix.init._steps import Addition, Present, Refused, Step, read
from devfix.init._templates import template

__all__ = ["hook"]

_ITEM = """\
- repo: local
  hooks:
    - id: {id}
      name: {name}
      entry: {entry}
      language: {language}
      additional_dependencies: ["devfix[notebook]=={version}"]
      types_or: [{types}]
      require_serial: true
"""


def hook(root: str) -> Step:
    """Add the first hook of ``.pre-commit-hooks.yaml``, installed from PyPI; create the file if there is none."""
    import yaml

    from devfix.init._yaml import CannotExtend, InvalidYaml, append_item, values

    hooks = yaml.safe_load(template("pre-commit-hooks.yaml"))
    item = _ITEM.format(**hooks[0], types=", ".join(hooks[0]["types_or"]), version=__version__)
    path = os.path.join(root, ".pre-commit-config.yaml")
    try:
        old = read(path)
        present = [each["id"] for each in hooks if each["id"] in values(old or b"", "id")]
        if present:
            return Present(path, f"the hook {present[0]}")
        return Addition(path, old, append_item(old or b"", "repos", item))
    except OSError as error:
        return Refused(path, f"cannot be read: {error.strerror or error}")
    except InvalidYaml as error:
        return Refused(path, f"is not valid YAML: {error}")
    except CannotExtend as error:
        return Refused(path, str(error), item)
