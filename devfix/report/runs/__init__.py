"""Reports of runs: traces, logs, device maps and verdicts, as text, JSON and HTML.

In: results of ``devfix.trace`` and ``devfix.verify``.  Out: text on a console, JSON documents that follow
``devfix/schema``, and HTML pages.

May import model, sources, rules, trace, verify, vcs and ``devfix.report``.
"""
