"""Implementation of ``devfix migrate`` and its subcommands, one module each."""
