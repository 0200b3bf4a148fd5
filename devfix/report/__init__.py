"""Reports: the results of a run as text, JSON, SARIF, HTML and other formats, and the exit code.

In come the outcomes of ``devfix.model``, proofs of ``devfix.verify``, traces of ``devfix.trace`` and records of
``devfix.migrate``; out go text and bytes. ``findings`` writes the reports of ``devfix check`` and ``devfix apply``,
``runs`` those of ``devfix verify`` and ``devfix trace``, and ``migrations`` those of ``devfix migrate``. ``templates``
holds the HTML pages.

Modules of this package may import ``model``, ``sources``, ``vcs``, ``rules``, ``rewrite``, ``engine``, ``verify``,
``trace`` and ``migrate``, never ``bot``, ``lsp`` or ``cli``. The module of each format is imported on first use, and
so is ``summary``: ``devfix explain`` needs neither the engine nor what it stands on.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from devfix.report.summary import Mode, Report

__all__ = ["Mode", "Report"]


def __getattr__(name: str) -> Any:
    """Return ``Mode`` or ``Report``, imported when it is first asked for."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from devfix.report import summary

    return getattr(summary, name)
