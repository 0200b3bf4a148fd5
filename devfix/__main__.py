"""``python -m devfix`` is the ``devfix`` command.

``python -m`` puts the current folder first on ``sys.path``.  It may hold a stranger's ``click.py``, so it is removed,
unless devfix itself was imported from there.
"""

import os
import sys

if not getattr(sys.flags, "safe_path", False) and not sys.flags.isolated:
    home = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    try:
        if sys.path and os.path.abspath(sys.path[0]) == os.getcwd() != home:
            del sys.path[0]
    except FileNotFoundError:  # the current folder was deleted: nothing can be imported from it
        pass

from devfix.cli import main  # after the path is safe

if __name__ == "__main__":
    main()
