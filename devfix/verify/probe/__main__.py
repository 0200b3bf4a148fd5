"""The probe started by its folder's path: become a package of another name, and leave no trace on ``sys.path``."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
NAME = "devfix_probe"


def main() -> int:
    """Load the package from its folder and do what the command line says."""
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or ".") != HERE]
    spec = importlib.util.spec_from_file_location(
        NAME, os.path.join(HERE, "__init__.py"), submodule_search_locations=[HERE]
    )
    assert spec is not None
    assert spec.loader is not None
    package = importlib.util.module_from_spec(spec)
    sys.modules[NAME] = package
    spec.loader.exec_module(package)
    program = importlib.import_module(f"{NAME}.program")
    return int(program.main())


if __name__ == "__main__":
    sys.exit(main())
