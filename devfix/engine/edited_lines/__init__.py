"""Lines of a text before and after edits: which of them are the same, and where a finding is now.

May import what :mod:`devfix.engine` may.
"""
