"""Entry point for the folder's path: import it as package ``devfix_probe`` and remove it from ``sys.path``."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
NAME = "devfix_probe"


def main() -> int:
    """Load the package from its folder, execute the command line and return the exit code."""
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
