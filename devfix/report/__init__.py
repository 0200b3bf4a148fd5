"""What one run has to say, to people and to programs; the exit code is part of it.

The writers are modules of their own (``text``, ``concise``, ``json``, ``diff``), imported when they are used.
"""

from devfix.report.summary import Mode, Report

__all__ = ["Mode", "Report"]
