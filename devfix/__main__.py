"""``python -m devfix`` is the ``devfix`` command."""

from devfix.cli import main

if __name__ == "__main__":
    main()
