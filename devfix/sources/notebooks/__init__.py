"""Notebooks (``.ipynb``): their cells as one program, and edits written back byte for byte around them.

nbformat (the extra ``notebook``) validates notebooks.  It never writes the file: an edit replaces the strings of the
changed lines only (`encode_notebook`).
"""

from devfix.sources.notebooks._export import located, runnable
from devfix.sources.notebooks._magics import as_written
from devfix.sources.notebooks._program import cells_in, place_in, sources_in
from devfix.sources.notebooks._reading import decode_notebook, encode_notebook
from devfix.sources.notebooks._spots import spots

__all__ = [
    "as_written",
    "cells_in",
    "decode_notebook",
    "encode_notebook",
    "located",
    "place_in",
    "runnable",
    "sources_in",
    "spots",
]
