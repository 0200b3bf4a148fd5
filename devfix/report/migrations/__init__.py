"""Reports of ``devfix migrate``: progress on a terminal, an HTML page, and a SARIF log.

In come the records and tallies of ``devfix.migrate``; out go text and renderables. Modules may import
``model``, ``sources``, ``vcs``, ``migrate`` and the rest of ``devfix.report``.
"""
