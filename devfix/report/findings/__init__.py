"""Report formats of ``devfix check`` and ``devfix apply``, one module each.

Each module of a machine-readable format has a function ``render`` that takes a :class:`devfix.report.view.View` and
returns text; ``text`` prints to a terminal. :data:`devfix.report.formats.FORMATS` lists the formats. Modules may
import ``model``, ``sources``, ``vcs``, ``rules``, ``rewrite``, ``engine`` and ``verify``.
"""
