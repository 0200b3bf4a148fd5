"""Facts about devices: which functions can make a difference between devices, found by syntax alone.

``certain_tensors.py`` tells which expressions are tensors, ``value_sources.py`` where the value of an expression may
come from, ``file_sources.py`` what each function of a file reads, returns and stores, and ``device_facts.py`` resolves
the names of files and their imports.  In: :class:`devfix.syntax.tree.SourceTree`.  These modules may import the names
of files (``file_names.py``) and roles, :mod:`devfix.models`, :mod:`devfix.syntax` and the program's files.
"""
