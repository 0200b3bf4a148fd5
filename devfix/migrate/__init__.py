"""Migration of many repositories (``devfix migrate``).

Input: a plan, a folder, or a list of repositories.  Output: one :class:`~devfix.migrate.record.Record` per repository,
patches, branches and pull requests.  A state file survives interruptions; a worker that dies costs at most one
repository.

May import :mod:`devfix.model`, :mod:`~devfix.sources`, :mod:`~devfix.config`, :mod:`~devfix.vcs`,
:mod:`~devfix.rules`, :mod:`~devfix.engine` and :mod:`~devfix.verify`.
"""
