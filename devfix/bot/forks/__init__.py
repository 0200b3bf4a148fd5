"""Forks of repositories to which the token may not push: found, or created.  Imports only the forge's client library.

Modules raise ``Skipped`` if a repository cannot be forked; errors of the connection are those of the client library.
"""

from __future__ import annotations
