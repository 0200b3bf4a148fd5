"""Pull requests and review suggestions on GitHub and GitLab (``devfix bot``).

Input: the checkout of a CI job, its environment variables, and ``[tool.devfix.bot]`` in pyproject.toml.  Output:
reviews, branches and pull requests on the forge, or an artifact that another job posts.

May import :mod:`devfix.model`, :mod:`~devfix.sources`, :mod:`~devfix.config`, :mod:`~devfix.vcs`,
:mod:`~devfix.rules`, :mod:`~devfix.engine`, :mod:`~devfix.verify`, :mod:`~devfix.migrate` and :mod:`~devfix.report`.
"""
