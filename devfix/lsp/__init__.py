"""A language server: diagnostics as you type, quick fixes, the device of a value, and verification.

In: open documents and the settings of the editor.  Out: messages of the Language Server Protocol.

May import everything below it: ``devfix.model``, ``sources``, ``config``, ``syntax``, ``analysis``, ``rules``,
``engine`` and ``report``; verification runs in a process of its own.
"""
