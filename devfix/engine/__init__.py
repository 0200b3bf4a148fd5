"""The engine: programs are scanned, findings repaired one by one, and the result scanned again.

In: source files and settings.  Out: an :class:`devfix.model.Outcome` with resolutions, a patch and problems.

May import ``devfix.model``, ``sources``, ``vcs``, ``config``, ``syntax``, ``models``, ``analysis``, ``rules``,
``fixes`` and ``rewrite``; rules are loaded through :mod:`devfix.rules.registry`.
"""
