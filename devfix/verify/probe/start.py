"""Starting a script or a module as ``python`` and ``python -m`` do, in a copy of its project."""

from __future__ import annotations

import argparse
import ast
import os
import runpy
import sys
import threading
import types
from importlib.machinery import SourceFileLoader
from typing import Any

from . import notebook
from .returned import ReturnedValues, without_clock_readings

__all__ = ["execute"]


def execute(options: argparse.Namespace, returned: ReturnedValues) -> None:
    """Run the script or module as ``__main__``, and wait for its threads as the interpreter does.

    Args:
        options: the script, its arguments, and its project's folders.
        returned: records the values of the script's top-level calls.

    """
    if options.copy_of and options.root:
        _import_from_copy(options.copy_of, os.path.abspath(options.root))
    sys.argv = [options.script, *options.arguments]
    try:
        if options.module:
            sys.path.insert(0, os.getcwd())
            _run_module(options.script)
        else:
            _run_file(os.path.abspath(options.script), options.program, returned)
    finally:
        sys.settrace(None)
        sys.setprofile(None)
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and not thread.daemon:
            thread.join()


def _run_module(name: str) -> None:
    runpy.run_module(name, run_name="__main__", alter_sys=True)


def _run_file(path: str, program: str | None, returned: ReturnedValues) -> None:
    sys.path.insert(0, os.path.dirname(path))
    main: Any = types.ModuleType("__main__")
    main.__file__ = path
    main.__builtins__ = __builtins__
    main.__loader__ = SourceFileLoader("__main__", path)
    sys.modules["__main__"] = main
    if program is not None:
        notebook.run(path, program, main.__dict__)
        return
    with open(path, "rb") as source:
        text = source.read()
    if notebook.is_export(text):
        code = compile(text, path, "exec", dont_inherit=True)
        notebook.prepare(main.__dict__)
        exec(code, main.__dict__)
        return
    tree = ast.parse(text, path)
    main.__doc__ = ast.get_docstring(tree, clean=False)
    # In an interactive block, the value of each top-level expression statement is passed to ``sys.displayhook``.
    block = ast.Interactive(body=without_clock_readings(tree).body)
    code = compile(block, path, "single", dont_inherit=True)
    sys.displayhook = returned.note
    exec(code, main.__dict__)


def _import_from_copy(original: str, copy: str) -> None:
    """Import an installed project from its copy, even in development mode or with PYTHONPATH.

    https://setuptools.pypa.io/en/latest/userguide/development_mode.html
    """
    given = [os.path.abspath(entry) for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep) if entry]
    entries = [*(entry for entry in given if entry not in sys.path), *sys.path]
    sys.path[:] = [_path_in_copy(entry, original, copy) for entry in entries]
    for name, module in list(sys.modules.items()):
        mapping: Any = getattr(module, "MAPPING", None)
        if name.startswith("__editable__") and isinstance(mapping, dict):
            mapping.update({package: _path_in_copy(str(path), original, copy) for package, path in mapping.items()})


def _path_in_copy(path: str, original: str, copy: str) -> str:
    """Return the corresponding path in the copy if it exists; virtual environments, for example, are not copied."""
    if path != original and not path.startswith(original + os.sep):
        return path
    copied = os.path.normpath(os.path.join(copy, os.path.relpath(path, original)))
    return copied if os.path.exists(copied) else path
